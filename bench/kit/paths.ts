// API paths used by benchmarks in the orch dialect.
import { dialects, groupName } from "#dialect";

export const groupOf = (name: string): string => groupName(dialects.orch, { group: name, branded: true });
const below = (group: string): string => `/apis/${groupOf(group)}/v1/namespaces/default`;

export const eventsPath = `${below("events")}/events`;
export const leasesPath = `${below("coordination")}/leases`;
