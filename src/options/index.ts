export { cipherSuiteNames, cipherSuiteWarnings } from "./cipher-suites.ts";
export {
  bufferSize,
  dialectOption,
  directory,
  file,
  gatesOption,
  helpOption,
  releaseOption,
  hiddenMetricsVersion,
  logDeclarations,
  logOptions,
  tlsVersion,
  verboseModules,
  verbosityOption,
  versionOption,
} from "./common.ts";
export {
  type ConfigEntry,
  type ConfigFile,
  type ConfigNode,
  nodeWithin,
  parseConfigFile,
  plainOf,
  readConfigFile,
} from "./config-file.ts";
export { type Gates, type GivenGates, featureGates, gatesIn, resolveGates } from "./gates.ts";
export { defaultText, description, helpText, terminalWidth, wrap } from "./help.ts";
export { defaultGates, knownGates } from "./known-gates.ts";
export { type LogSettings, logFrom } from "./log-settings.ts";
export {
  type MapOptions,
  headers,
  listOf,
  mapOf,
  singleListOf,
  pairs,
  repeated,
  splitCommas,
  strings,
  struct,
} from "./list-type.ts";
export { hint, nearest } from "./nearest.ts";
export {
  type Cidr,
  type PortRange,
  cidr,
  cidrs,
  ip,
  requiredIp,
  parseCidr,
  portRange,
  url,
} from "./net-type.ts";
export {
  type AnyOption,
  type ConflictReporter,
  type Camel,
  type Check,
  type CheckContext,
  type Gate,
  type SettingsView,
  type Option,
  type OptionSet,
  type OptionsOf,
  type Section,
  type SettingsOf,
  camel,
  fileOption,
  option,
  section,
} from "./option.ts";
export {
  type OptionType,
  type ValueCheck,
  above,
  atLeast,
  between,
  bool,
  duration,
  each,
  float,
  int,
  plainInt,
  uint,
  int32,
  kindOf,
  level,
  listed,
  maybe,
  nanoseconds,
  notNegative,
  oneOf,
  quantity,
  text,
  uint32,
} from "./option-type.ts";
export { type ReferencePage, renderReference } from "./reference.ts";
export { Refusal, Unparsable, within } from "./refusal.ts";
export {
  type StartupOutput,
  handleStartupOutput,
  flagValues,
  logFlags,
  problemText,
  settledTable,
} from "./report.ts";
export { type Provenance, type Settled, type Sources, settle } from "./settle.ts";
export { tlsSettings } from "./tls-settings.ts";
export { configOf, configText, migratedConfig } from "./write-config.ts";
