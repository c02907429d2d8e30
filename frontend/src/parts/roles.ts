// Roles in words: what somebody is called in a project, and what they can do there.

import type { Project } from "../api";

type Kind = Project["kind"];
const NAMES: Partial<Record<Kind, Record<string, string>>> = { evaluation: { viewer: "participant" }, reading: { annotator: "reader" } };
const ABILITIES: Record<Kind, Record<string, string>> = {
  campaign: { owner: "You run the project with its other owners.", annotator: "You judge items.", viewer: "You watch the curve." },
  evaluation: {
    owner: "You run the evaluation with its other owners.", annotator: "You judge what systems found.",
    viewer: "You submit systems and see their scores; everybody’s, once the owner publishes them.",
  },
  reading: { owner: "You run the reading with its other owners.", annotator: "You read documents and mark what they say.", viewer: "You watch how far readers agree." },
};

export const roleName = (kind: Kind, role: string) => NAMES[kind]?.[role] ?? role;
export const abilities = (kind: Kind, role: string) => ABILITIES[kind][role] ?? "";
