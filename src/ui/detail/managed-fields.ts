// Managed fields tell machines who wrote what; whoever reads an object hardly looks for them.

/** The YAML of an object without them, as the command line client prints it. */
export function withoutManagedFields(yaml: string): string {
  const lines = yaml.split("\n");
  const metadata = lines.indexOf("metadata:");
  const isInside = (line: string | undefined): boolean => line !== undefined && /^ |^$/.test(line);
  let from = metadata + 1;
  while (isInside(lines[from]) && lines[from] !== key) from++;
  if (metadata < 0 || lines[from] !== key) return yaml;
  let to = from + 1;
  // Entries of the list stand below their key, or as far to the left as it does.
  while (/^ {2}(?:[ -]|$)|^$/.test(lines[to] ?? "end")) to++;
  return [...lines.slice(0, from), ...lines.slice(to)].join("\n");
}

const key = "  managedFields:";
