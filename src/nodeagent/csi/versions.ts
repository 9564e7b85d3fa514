// The CSI versions that a driver offers: the highest v1 version is used. The error texts are the kubelet's,
// because driver authors search for them.

interface Offered {
  /** The highest version below v2, which this agent does not support. */
  readonly highest?: readonly number[];
  readonly error?: string;
}

/**
 * Returns why a driver with these versions is rejected; undefined if it is accepted. `known` is the version
 * of a registered driver with the same name.
 */
export function versionProblem(versions: readonly string[], known: string | undefined): string | undefined {
  if (versions.length === 0) return "Plugin returned an empty list for supported versions";
  const { highest, error } = offered(versions);
  const none = (why: string): string =>
    `None of the versions specified [${versions.map((one) => JSON.stringify(one)).join(" ")}] are supported. err=${why}`;
  if (!highest)
    return none(
      `could not find a highest supported version from versions ([${versions.join(" ")}]) reported by this driver: ${error ?? "<nil>"}`,
    );
  if (highest[0] !== 1)
    return none(`highest supported version reported by driver is ${highest.join(".")}, must be v1.x`);
  if (known !== undefined && compare(componentsOf(known), highest) >= 0)
    return `Another driver with the same name is already registered with a higher supported version: ${JSON.stringify(known)}`;
  return undefined;
}

/** Returns the version used for a driver; empty if none is supported. */
export const highestVersion = (versions: readonly string[]): string =>
  offered(versions).highest?.join(".") ?? "";

function offered(versions: readonly string[]): Offered {
  let highest: readonly number[] | undefined;
  let error: string | undefined;
  for (const version of versions.toReversed()) {
    try {
      const components = componentsOf(version);
      if (components[0]! <= 1 && (!highest || compare(highest, components) < 0)) highest = components;
    } catch (problem) {
      error = (problem as Error).message;
    }
  }
  return { ...(highest && { highest }), ...(error !== undefined && { error }) };
}

/** Parses the leading numbers of a version; a suffix is ignored. */
function componentsOf(version: string): readonly number[] {
  const quoted = JSON.stringify(version);
  const numbers = /^\s*v?(\d+(?:\.\d+)*)/.exec(version)?.[1];
  if (numbers === undefined) throw new Error(`could not parse ${quoted} as version`);
  const components = numbers.split(".");
  if (components.length < 2) throw new Error(`illegal version string ${quoted}`);
  const padded = components.find((one) => one.length > 1 && one.startsWith("0"));
  if (padded !== undefined)
    throw new Error(`illegal zero-prefixed version component ${JSON.stringify(padded)} in ${quoted}`);
  return components.map(Number);
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
