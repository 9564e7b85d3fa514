// The release of the protocol that all programs speak, as nodes, versions and user agents tell it.
export const releaseVersion = "v1.27.16";

/** What `--version` of all programs prints. */
export const versionText = `Orch ${releaseVersion}`;
