// Describes a search in words.
import type { Query } from "./parse.ts";

export function titleOf({
  kinds,
  names,
  namespace,
  types,
  reasons,
  nodes,
  controllers,
  labels,
  words,
}: Query): string {
  const things = [...new Set(kinds)].join(", ");
  const what = names.length > 0 ? `${things} ${names.join(", ")}` : things || "all objects";
  const filters = [
    words.length > 0 && `with “${words.join(" ")}”`,
    labels !== "" && `with labels ${labels}`,
    namespace !== "" && `in ${namespace}`,
    types.length > 0 && `of type ${types.join(" or ")}`,
    reasons.length > 0 && `with reason ${reasons.join(" or ")}`,
    nodes.length > 0 && `on ${nodes.join(" or ")}`,
    controllers.length > 0 && `reported by ${controllers.join(" or ")}`,
  ].filter((part) => part !== false);
  const text = [what, ...filters].join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
