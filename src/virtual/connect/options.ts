// Options of connect subresources, decoded from the query.
import type { PodAttachOptions, PodExecOptions, PodLogOptions, PodPortForwardOptions } from "#api";
import { type FieldError, badRequest, canonicalTime, forbiddenField, invalidValue } from "#base";
import type { Query } from "#http";
import { integer, isTrue } from "#endpoints";

const flag = (query: Query, name: string): boolean => query.has(name) && isTrue(query.get(name));

/** Omits options that are not set. */
function given<T extends object>(values: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== false && value !== ""),
  ) as T;
}

export function logOptions(query: Query): PodLogOptions {
  return {
    apiVersion: "v1",
    kind: "PodLogOptions",
    ...given<Partial<PodLogOptions>>({
      container: query.get("container"),
      follow: flag(query, "follow"),
      previous: flag(query, "previous"),
      sinceSeconds: integer(query, "sinceSeconds"),
      sinceTime: timeOf(query, "sinceTime"),
      timestamps: flag(query, "timestamps"),
      tailLines: integer(query, "tailLines"),
      limitBytes: integer(query, "limitBytes"),
      insecureSkipTLSVerifyBackend: flag(query, "insecureSkipTLSVerifyBackend"),
    }),
  };
}

function timeOf(query: Query, name: string): string | undefined {
  const text = query.get(name);
  if (!text) return undefined;
  try {
    return canonicalTime(text) ?? undefined;
  } catch (error) {
    throw badRequest(`${name}: ${(error as Error).message}`);
  }
}

export function logOptionErrors({
  tailLines,
  limitBytes,
  sinceSeconds,
  sinceTime,
}: PodLogOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0)
    errors.push(invalidValue("tailLines", tailLines, "must be greater than or equal to 0"));
  if (limitBytes !== undefined && limitBytes < 1)
    errors.push(invalidValue("limitBytes", limitBytes, "must be greater than 0"));
  if (sinceSeconds !== undefined && sinceTime !== undefined)
    errors.push(forbiddenField("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  else if (sinceSeconds !== undefined && sinceSeconds < 1)
    errors.push(invalidValue("sinceSeconds", sinceSeconds, "must be greater than 0"));
  return errors;
}

const streams = (query: Query): Pick<PodAttachOptions, "stdin" | "stdout" | "stderr" | "tty" | "container"> =>
  given({
    stdin: flag(query, "stdin"),
    stdout: flag(query, "stdout"),
    stderr: flag(query, "stderr"),
    tty: flag(query, "tty"),
    container: query.get("container"),
  });

export const attachOptions = (query: Query): PodAttachOptions => ({
  apiVersion: "v1",
  kind: "PodAttachOptions",
  ...streams(query),
});
export const execOptions = (query: Query): PodExecOptions => ({
  apiVersion: "v1",
  kind: "PodExecOptions",
  ...streams(query),
  command: [...query.all("command")],
});

export function portForwardOptions(query: Query): PodPortForwardOptions {
  const ports = query.all("ports").flatMap((list) => list.split(","));
  for (const port of ports)
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65535) throw badRequest(`ports: "${port}" is not a port`);
  return {
    apiVersion: "v1",
    kind: "PodPortForwardOptions",
    ...(ports.length && { ports: ports.map(Number) }),
  };
}

/** Encodes a query for an agent, with sorted keys. */
export function queryText(values: readonly (readonly [key: string, value: string])[]): string {
  const sorted = values.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted.length
    ? `?${new URLSearchParams(sorted.map(([key, value]) => [key, value])).toString()}`
    : "";
}
