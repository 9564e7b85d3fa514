// Validates the labels that an agent may set on its own node.

import { isLabelValue, isQualifiedName } from "#base";
import type { Dialect } from "#dialect";

export function labelsProblem(
  labels: Readonly<Record<string, string>>,
  dialect: Dialect,
): string | undefined {
  const wrong: string[] = [];
  for (const [key, value] of Object.entries(labels)) {
    if (!isQualifiedName(key)) wrong.push(`${JSON.stringify(key)} is not a valid label name`);
    else if (!isAllowedLabel(key, dialect))
      wrong.push(
        `${JSON.stringify(key)} is reserved; allowed are names under ${dialect.names.labels.agentPrefix}/ and ${dialect.names.labels.nodePrefix}/ and the well-known node labels`,
      );
    if (!isLabelValue(value)) wrong.push(`${JSON.stringify(value)} is not a valid label value`);
  }
  return wrong.length > 0 ? wrong.join("; ") : undefined;
}

/** Labels outside the product's domains are allowed; of those inside, only some. */
export function isAllowedLabel(key: string, dialect: Dialect): boolean {
  const prefix = key.includes("/") ? key.slice(0, key.indexOf("/")) : "";
  const under = (domain: string): boolean => prefix === domain || prefix.endsWith(`.${domain}`);
  if (!under(dialect.data.labelDomain) && !under(dialect.wire.groupSuffix)) return true;
  const { labels } = dialect.names;
  const known: readonly string[] = [
    labels.arch,
    labels.os,
    labels.hostname,
    labels.instanceType,
    labels.region,
    labels.zone,
    labels.betaArch,
    labels.betaOs,
    labels.betaInstanceType,
    labels.betaRegion,
    labels.betaZone,
    labels.windowsBuild,
  ];
  return known.includes(key) || under(labels.agentPrefix) || under(labels.nodePrefix);
}
