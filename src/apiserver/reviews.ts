// Reviews: questions about identity and access, asked by creating an object that is answered and never stored.
import type { Authorizer } from "#authz";
import type { SpecialGroup } from "./catalog.ts";
import type { Core } from "./server.ts";

export function reviewEndpoints(_core: Core, _authorizer: Authorizer): readonly SpecialGroup[] {
  return [];
}
