// The release of the protocol that this agent speaks, as nodes and requests carry it.
export const versionName = "v1.27.16";
