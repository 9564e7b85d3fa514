// All options of the API server.

import { type Dialect, apiVersionOf } from "#dialect";
import { type OptionSet, type OptionsOf, type Section, type SettingsOf, camel } from "#options";
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
import { serverGates } from "./server-gates.ts";

const sections = (dialect: Dialect) =>
  [
    servingSection(dialect),
    storageSection(dialect),
    admissionSection(),
    clusterSection(dialect),
    connectionSection(dialect),
    authenticationSection(),
    serviceAccountSection(),
    authorizationSection(),
    auditSection(dialect),
    limitsSection(),
    lifecycleSection(),
    observingSection(dialect),
  ] as const;

type ApiserverOption = OptionsOf<ReturnType<typeof sections>>;
/**
 * One typed value per flag or configuration field, under the flag's name in camel case; durations are in
 * milliseconds.
 */
export type ApiserverSettings = SettingsOf<ApiserverOption>;

/** Flags that concern the configuration file itself, the names in it, or a single run. */
const withoutField = new Set(["config", "dialect", "help", "version"]);

/** Makes every other flag a field of the configuration file, under its name in camel case. */
const withFields = <S extends Section>(dialect: Dialect, sections: readonly S[]): readonly S[] =>
  sections.map((section) => ({
    ...section,
    options: section.options.map((option) =>
      option.flag === undefined || withoutField.has(option.flag)
        ? option
        : { ...option, config: camel(dialect.spelling.flag(option.flag)) },
    ),
  }));

const known = new WeakMap<Dialect, OptionSet<ApiserverOption>>();

/** Returns the option set, which is shared by all servers of a dialect. */
export const apiserverOptions = (dialect: Dialect): OptionSet<ApiserverOption> =>
  known.getOrInsertComputed(dialect, optionsIn);

const optionsIn = (dialect: Dialect): OptionSet<ApiserverOption> => ({
  program: "orch-apiserver",
  summary:
    "The API server of a cluster: validates and stores the objects of the cluster and serves them over HTTPS.",
  dialect,
  sections: withFields<Section<ApiserverOption>>(dialect, sections(dialect)),
  checks: apiserverChecks,
  gates: serverGates,
  file: [
    {
      apiVersion: apiVersionOf(dialect, { group: "apiserver.config", branded: true, version: "v1alpha1" }),
      kind: "APIServerConfiguration",
    },
  ],
  fieldsFollowFlags: true,
  effectiveGates: () => actingGates(dialect),
  retired: {
    "insecure-port": "only the secure port is served",
    "insecure-bind-address": "only the secure port is served",
    "master-service-namespace": "it had no effect",
  },
});
