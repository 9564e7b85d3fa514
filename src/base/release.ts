// The Kubernetes releases whose APIs the programs implement: all of the first one, features of the later ones.

/** The minor versions of the first and the last release. */
export const firstRelease = 27;
export const lastRelease = 32;

/** `1.27` to the last release. */
export const releases: readonly string[] = Array.from(
  { length: lastRelease - firstRelease + 1 },
  (_, later) => `1.${firstRelease + later}`,
);

/** Returns 27 for `1.27`. */
export const minorOf = (release: string): number => Number(release.split(".")[1]);

/** The version reported by nodes, user agents and, unless a later release is requested, by servers. */
export const releaseVersion = "v1.27.16";

/** Returns the version that a server of this minor release reports. */
export const versionOfRelease = (minor: number): string =>
  minor === firstRelease ? releaseVersion : `v1.${minor}.0`;

/** The output of `--version`. */
export const versionText = `Orch ${releaseVersion}`;
