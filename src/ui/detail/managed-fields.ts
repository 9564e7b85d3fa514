// Hides managed fields, which are rarely of interest to users.

/** Returns the YAML of an object without managed fields, as the command-line client prints it. */
export function withoutManagedFields(yaml: string): string {
  const lines = yaml.split("\n");
  const metadata = lines.indexOf("metadata:");
  const isInside = (line: string | undefined): boolean => line !== undefined && /^ |^$/.test(line);
  let from = metadata + 1;
  while (isInside(lines[from]) && lines[from] !== key) from++;
  if (metadata < 0 || lines[from] !== key) return yaml;
  let to = from + 1;
  // The items of the list are indented below their key, or aligned with it.
  while (/^ {2}(?:[ -]|$)|^$/.test(lines[to] ?? "end")) to++;
  return [...lines.slice(0, from), ...lines.slice(to)].join("\n");
}

const key = "  managedFields:";
