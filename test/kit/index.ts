export { type Identity, type TestAuthority, testAuthority } from "./certificates.ts";
export { golden } from "./golden.ts";
export { needs, programPath } from "./needs.ts";
