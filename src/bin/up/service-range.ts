// The addresses of services in a cluster of `orch up`.

export const serviceRange = "10.96.0.0/16";
/** The first of them is that of the API server. */
export const apiServiceAddress = "10.96.0.1";
