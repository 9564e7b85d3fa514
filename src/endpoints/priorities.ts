// The priorities by which built-in groups and versions are ordered for clients.
import type { APIService } from "#api";

/** Group priorities, by neutral name. */
const groups: Readonly<Record<string, number>> = {
  "": 18000,
  apps: 17800,
  events: 17750,
  authentication: 17700,
  authorization: 17600,
  autoscaling: 17500,
  batch: 17400,
  certificates: 17300,
  networking: 17200,
  policy: 17100,
  "rbac.authorization": 17000,
  storage: 16800,
  apiextensions: 16700,
  admissionregistration: 16700,
  scheduling: 16600,
  coordination: 16500,
  node: 16300,
  discovery: 16200,
  "flowcontrol.apiserver": 16100,
  "internal.apiserver": 16000,
  resource: 15900,
};

/** Versions whose priority does not follow from their name. */
const versions: Readonly<Record<string, number>> = {
  "/v1": 1,
  "events/v1beta1": 5,
  "autoscaling/v2": 30,
  "autoscaling/v2beta2": 1,
  "admissionregistration/v1beta1": 12,
  "admissionregistration/v1alpha1": 9,
  "discovery/v1beta1": 12,
  "flowcontrol.apiserver/v1": 21,
  "flowcontrol.apiserver/v1beta3": 18,
  "flowcontrol.apiserver/v1beta2": 15,
  "flowcontrol.apiserver/v1beta1": 12,
  "flowcontrol.apiserver/v1alpha1": 9,
  "resource/v1alpha1": 9,
};

const usual = (version: string): number =>
  version.includes("alpha") ? 1 : version.includes("beta") ? 9 : 15;

export type Priorities = Pick<APIService["spec"], "groupPriorityMinimum" | "versionPriority">;

export const builtInPriorities = (group: string, version: string): Priorities => ({
  groupPriorityMinimum: groups[group] ?? 15000,
  versionPriority: versions[`${group}/${version}`] ?? usual(version),
});

/** Custom groups follow all others. */
export const customPriorities: Priorities = { groupPriorityMinimum: 1000, versionPriority: 100 };
