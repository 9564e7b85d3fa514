// Parses image references: registry.example:5000/some/thing:tag@sha256:…
// A first part that contains a dot or a colon, or is "localhost", is a registry. Repositories are lower case.
const part = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const domainPart = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])";
const domain = `(?:${domainPart}(?:\\.${domainPart})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const reference = new RegExp(
  `^(?:(${domain})/)?(${part}(?:/${part})*)(?::([\\w][\\w.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`,
);
const maxNameLength = 255;
const defaultRegistry = "docker.io";

export interface ImageName {
  readonly registry: string;
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** Parses an image reference; throws if it is invalid. */
export function parseImageName(text: string): ImageName {
  if (/^[a-f0-9]{64}$/.test(text))
    throw new Error(`invalid repository name (${text}), cannot specify 64-byte hexadecimal strings`);
  const { registry, rest } = split(text);
  const name = rest.split("@")[0]!.replace(/:[^/:]*$/, "");
  if (name.toLowerCase() !== name)
    throw new Error("invalid reference format: repository name must be lowercase");
  const found = reference.exec(`${registry}/${rest}`);
  if (!found) throw new Error("invalid reference format");
  const repository = found[2]!;
  if (registry.length + 1 + repository.length > maxNameLength)
    throw new Error(`repository name must not be more than ${maxNameLength} characters`);
  return {
    registry,
    repository,
    ...(found[3] !== undefined && { tag: found[3] }),
    ...(found[4] !== undefined && { digest: found[4] }),
  };
}

/** Splits off the registry; the default registry applies if it is absent. */
function split(text: string): { readonly registry: string; readonly rest: string } {
  const slash = text.indexOf("/");
  const first = text.slice(0, Math.max(slash, 0));
  const isRegistry = slash >= 0 && (/[.:]/.test(first) || first === "localhost");
  if (isRegistry)
    return { registry: first === "index.docker.io" ? defaultRegistry : first, rest: text.slice(slash + 1) };
  return { registry: defaultRegistry, rest: slash < 0 ? `library/${text}` : text };
}

/** Appends the tag `latest` to a reference without tag and digest. */
export function withDefaultTag(text: string): string {
  const { tag, digest } = parseImageName(text);
  return tag === undefined && digest === undefined ? `${text}:latest` : text;
}
