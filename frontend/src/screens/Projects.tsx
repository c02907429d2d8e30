import { useEffect, useState } from "preact/hooks";
import { get, type Project } from "../api";
import { abilities, roleName } from "../parts/roles";
import { me, messageOf } from "../state";

export function Projects() {
  const [projects, setProjects] = useState<Project[] | null>(null), [problem, setProblem] = useState("");
  useEffect(() => { get<Project[]>("/projects").then(setProjects, (error) => setProblem(messageOf(error))); }, []);
  return <main>
    <div class="bar">
      <h1>My projects</h1>
      {me.value?.is_admin && <p class="buttons"><a class="button" href="#/new">New project</a>
        <a class="button" href="#/new/evaluation">New evaluation</a></p>}
    </div>
    {me.value !== null && !me.value.has_password &&
      <p class="note">You came by a one-time link. <a href="#/me">Choose a password</a> to come back.</p>}
    {problem !== "" && <p class="problem" role="alert">{problem}</p>}
    {projects?.length === 0 && <p>{me.value?.is_admin
      ? <>There is no project yet. <a href="#/new">Make one</a> from a table of ranked items, or <a href="#/new/evaluation">an evaluation</a> that others submit to.</>
      : "You belong to no project yet. Ask for an invitation."}</p>}
    <ul class="cards">
      {projects?.map((project) => <li key={project.slug} class="card">
        <h2>{project.title}</h2>
        <p>{project.role === "viewer" ? abilities(project.kind, project.role) : project.question}</p>
        <p class="hint">{roleName(project.kind, project.role)}{project.state !== "open" && ` · ${project.state}`}
          {project.role !== "viewer" && ` · ${project.my_answers.toLocaleString("en-US")} answers by you`}</p>
        <p class="buttons">
          {project.role !== "viewer" && <a class="button primary" href={project.kind === "reading" ? `#/r/${project.slug}` : `#/p/${project.slug}/label`}>
            {project.kind === "reading" ? "Read" : "Label"}</a>}
          {project.kind === "evaluation" && <a class={project.role === "viewer" ? "button primary" : "button"} href={`#/e/${project.slug}`}>
            {project.role === "viewer" ? "Submit, and see scores" : "Leaderboard"}</a>}
          {project.kind === "reading" && project.role !== "annotator" && <a class="button" href={`#/r/${project.slug}/results`}>Results</a>}
          {project.kind === "campaign" && project.role !== "annotator" && <a class="button" href={`#/p/${project.slug}`}>Watch</a>}
        </p>
      </li>)}
    </ul>
  </main>;
}
