// The service addresses of an `orch up` cluster.

export const serviceRange = "10.96.0.0/16";
/** The first address belongs to the API server. */
export const apiServiceAddress = "10.96.0.1";
