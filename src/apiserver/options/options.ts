// All settings of the API server.

import type { Dialect } from "#dialect";
import { type OptionSet, type OptionsOf, type SettingsOf, knownGates } from "#options";
import { admissionSection } from "./admission.ts";
import { auditSection } from "./auditing.ts";
import { authenticationSection, serviceAccountSection } from "./authentication.ts";
import { authorizationSection } from "./authorization.ts";
import { actingGates } from "./acting-gates.ts";
import { apiserverChecks } from "./checks.ts";
import { clusterSection, connectionSection } from "./cluster.ts";
import { limitsSection } from "./limits.ts";
import { lifecycleSection, observingSection } from "./observing.ts";
import { servingSection } from "./serving.ts";
import { storageSection } from "./storage.ts";

const sections = (dialect: Dialect) =>
  [
    servingSection(dialect),
    storageSection(dialect),
    admissionSection(),
    clusterSection(dialect),
    connectionSection(),
    authenticationSection(),
    serviceAccountSection(),
    authorizationSection(),
    auditSection(dialect),
    limitsSection(),
    lifecycleSection(),
    observingSection(dialect),
  ] as const;

type ApiserverOption = OptionsOf<ReturnType<typeof sections>>;
/** One typed value per flag, under the flag's name in camel case; durations are milliseconds. */
export type ApiserverSettings = SettingsOf<ApiserverOption>;

export const apiserverOptions = (dialect: Dialect): OptionSet<ApiserverOption> => ({
  program: "orch-apiserver",
  summary:
    "The cluster's API server: validates and keeps the objects of the cluster and serves them over HTTPS.",
  dialect,
  sections: sections(dialect),
  checks: apiserverChecks,
  gates: knownGates,
  get actingGates() {
    return actingGates(dialect);
  },
  retired: {
    "admission-control": "use --enable-admission-plugins and --disable-admission-plugins",
    "insecure-port": "only the secure port is served",
    "insecure-bind-address": "only the secure port is served",
    "apiserver-count": "use --endpoint-reconciler-type=lease",
    "master-service-namespace": "it had no effect any more",
  },
});
