// The Kubernetes release whose API all programs implement, as reported by nodes, versions and user agents.
export const releaseVersion = "v1.27.16";

/** The output of `--version`. */
export const versionText = `Orch ${releaseVersion}`;
