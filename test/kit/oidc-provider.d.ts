// Types for the part of the identity provider's package that tests use; the package has none.
declare module "oidc-provider" {
  import type { RequestListener } from "node:http";
  export class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
  }
}
