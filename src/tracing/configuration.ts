// The tracing configuration shared by the server's file and the agent's configuration.

export interface TracingConfiguration {
  /** In the form the gRPC client takes. */
  readonly endpoint: string;
  readonly samplingRatePerMillion: number;
}

export const defaultCollector = "localhost:4317";

/** Describes what is wrong with a rate; returns undefined for a valid one. */
export function samplingRateProblem(rate: number): string | undefined {
  if (!Number.isInteger(rate)) return "must be a whole number";
  if (rate < 0) return "sampling rate must be positive";
  if (rate > 1_000_000) return "sampling rate per million must be less than or equal to one million";
  return undefined;
}

/** The configured endpoint is invalid. */
export class EndpointError extends Error {
  override readonly name = "EndpointError";
}

/**
 * Converts an endpoint to the form our gRPC client takes. The configuration uses gRPC's name syntax:
 * `host:port`, `dns:///host:port`, `unix:///path` or `unix-abstract:///name`. Throws EndpointError.
 */
export function collectorEndpoint(given: string): string {
  const text = given === "" ? defaultCollector : given;
  const found = /^([a-z][a-z0-9+.-]*):\/\/([^/]*)(\/.*)?$/i.exec(text);
  if (!found) {
    if (text.includes("//")) throw new EndpointError(`${JSON.stringify(text)} is no address`);
    return address(text);
  }
  const [, scheme, authority, path = ""] = found;
  if (!["dns", "unix", "unix-abstract"].includes(scheme!))
    throw new EndpointError(`unsupported scheme: ${scheme}. Options are none, dns, unix, or unix-abstract`);
  if (path.length < 2)
    throw new EndpointError(
      `${JSON.stringify(text)} has an authority but no address; write ${scheme}:///...`,
    );
  if (scheme === "dns") return address(path.slice(1));
  if (authority !== "") throw new EndpointError(`${JSON.stringify(text)}: a socket has no authority`);
  const escaped = path.split("/").map(encodeURIComponent).join("/");
  return scheme === "unix" ? `unix://${escaped}` : `unix:///@${escaped}`;
}

const dnsPort = 443;

function address(text: string): string {
  const found = /^(\[[0-9a-f:.%]+\]|[^:/?#[\]\s]*)(?::(\d{1,5}))?$/i.exec(text);
  const port = Number(found?.[2] ?? dnsPort);
  if (!found || port > 65_535) throw new EndpointError(`${JSON.stringify(text)} is no host and port`);
  return `http://${found[1] || "localhost"}:${port}`;
}
