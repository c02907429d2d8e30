// Guidelines come as a tree of elements that the service has checked; nothing is parsed here.

import { h, type VNode } from "preact";
import type { Node } from "../api";

const TAGS = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "em", "strong", "code", "pre", "blockquote",
  "hr", "br", "table", "thead", "tbody", "tr", "th", "td", "s", "span"]);

function build(node: Node, key: number): VNode | string {
  if (typeof node === "string") return node;
  const children = node.children.map(build);
  if (node.tag === "a" && node.href !== undefined && /^(https?:|mailto:)/i.test(node.href)) {
    return <a key={key} href={node.href} rel="noopener noreferrer nofollow" target="_blank">{children}</a>;
  }
  return h(TAGS.has(node.tag) ? node.tag : "span", { key }, children.length > 0 ? children : undefined);
}

export function Guidelines({ nodes }: { nodes: Node[] }) {
  return <div class="guidelines">{nodes.map(build)}</div>;
}
