// Cross-field validation of the API server's settings.

import { readFileSync } from "node:fs";
import { parseAuthenticationConfig } from "#authn";
import { minorOf } from "#base";
import { type Dialect, groupName } from "#dialect";
import { type Check, cipherSuiteWarnings, parseCidr } from "#options";
import { allowsAnonymous } from "../authentication/anonymous.ts";
import { admissionPlugins } from "./admission.ts";
import type { ApiserverSettings } from "./options.ts";
import { runtimeConfigProblems } from "#endpoints";

type Name = keyof ApiserverSettings;
const check = (name: string, run: Check<ApiserverSettings>["run"]): Check<ApiserverSettings> => ({
  name,
  run,
});

/**
 * A check that applies only at start: a configuration file that is validated on its own may leave settings to
 * flags.
 */
const startCheck = (name: string, run: Check<ApiserverSettings>["run"]): Check<ApiserverSettings> => ({
  name,
  run,
  startOnly: true,
});

const requirePair = (certificate: Name, key: Name): Check<ApiserverSettings> =>
  check(`${certificate} and ${key} are set together`, (settings, blame) => {
    if ((settings[certificate] === "") !== (settings[key] === ""))
      blame([certificate, key], "a certificate and its key must be given together");
  });

/** Largest supported number of host bits in a service range, since allocations are kept in memory. */
const maxRangeBits = 20;

const oidcFlags = [
  "oidcIssuerUrl",
  "oidcClientId",
  "oidcCaFile",
  "oidcUsernameClaim",
  "oidcUsernamePrefix",
  "oidcGroupsClaim",
  "oidcGroupsPrefix",
  "oidcRequiredClaim",
  "oidcSigningAlgs",
] as const;
const authorizerFlags = [
  "authorizationMode",
  "authorizationWebhookConfigFile",
  "authorizationWebhookVersion",
  "authorizationWebhookCacheAuthorizedTtl",
  "authorizationWebhookCacheUnauthorizedTtl",
] as const;

/** Reports whether the file configures anonymous requests. Unusable files are reported by another check. */
function configuresAnonymous(path: string, dialect: Dialect): boolean {
  try {
    return parseAuthenticationConfig(readFileSync(path, "utf8"), path, dialect).anonymous !== undefined;
  } catch {
    return false;
  }
}

/** Checks of the token key files, which the program requires and the library generates itself. */
export const tokenKeyChecks: readonly Check<ApiserverSettings>[] = [
  startCheck(
    "service account tokens can be issued",
    ({ serviceAccountIssuer: issuers, serviceAccountSigningKeyFile: signing }, blame) => {
      if (issuers.length === 0 || signing === "")
        blame(
          ["serviceAccountIssuer", "serviceAccountSigningKeyFile", "apiAudiences"],
          "an issuer and its signing key must be given; the audiences follow from the issuer",
        );
    },
  ),
  startCheck(
    "service account tokens can be verified",
    ({ serviceAccountSigningKeyFile: signing, serviceAccountKeyFile: keys }, blame) => {
      if (signing !== "" && keys.length === 0)
        blame(
          ["serviceAccountKeyFile", "serviceAccountSigningKeyFile"],
          "the signing key needs a file of keys that verify what it signs",
        );
    },
  ),
];

export const apiserverChecks: readonly Check<ApiserverSettings>[] = [
  ...tokenKeyChecks,
  requirePair("tlsCertFile", "tlsPrivateKeyFile"),
  requirePair("storeCertfile", "storeKeyfile"),
  requirePair("proxyClientCertFile", "proxyClientKeyFile"),
  requirePair("nodeagentClientCertificate", "nodeagentClientKey"),

  check(
    "memory and remote store servers are not mixed",
    ({ storeServers: servers, storageBackend }, blame) => {
      if (servers.length > 1 && servers.includes("memory://"))
        blame(["storeServers"], "memory:// cannot be mixed with other servers");
      if (storageBackend !== "" && (servers.length === 0 || servers.includes("memory://")))
        blame(
          ["storageBackend", "storeServers"],
          `the backend ${storageBackend} needs the addresses of its servers`,
        );
    },
  ),
  startCheck("a store is configured", ({ storeServers: servers }, blame, { isSet }) => {
    if (servers.length === 0 && !isSet("dataDir"))
      blame(
        ["storeServers", "dataDir"],
        "say where objects are kept: the addresses of etcd servers (--store-servers in either dialect), or a directory for the embedded store",
      );
  }),
  check("issuers are distinct", ({ serviceAccountIssuer: issuers }, blame) => {
    if (new Set(issuers).size < issuers.length)
      blame(["serviceAccountIssuer"], "each issuer may be given once");
  }),
  check(
    "a JWKS URI requires an https issuer",
    ({ serviceAccountJwksUri: uri, serviceAccountIssuer: issuers }, blame) => {
      if (uri !== "" && !issuers[0]?.startsWith("https://"))
        blame(
          ["serviceAccountJwksUri", "serviceAccountIssuer"],
          "the address of the key set needs an https issuer",
        );
    },
  ),
  check(
    "an OIDC issuer and its client ID are set together",
    ({ oidcIssuerUrl: issuer, oidcClientId: client }, blame) => {
      if ((issuer === "") !== (client === ""))
        blame(["oidcIssuerUrl", "oidcClientId"], "must be given together");
    },
  ),

  check(
    "the OIDC username claim is not empty",
    ({ oidcIssuerUrl: issuer, oidcUsernameClaim: claim }, blame) => {
      if (issuer !== "" && claim === "") blame(["oidcUsernameClaim"], "must name a claim");
    },
  ),

  check("OIDC issuers are configured by flags or by a file", (settings, blame, { isSet }) => {
    const flags = oidcFlags.filter(isSet);
    if (settings.authenticationConfig !== "" && flags.length > 0)
      blame(
        ["authenticationConfig", ...flags],
        "authentication-config file and oidc-* flags are mutually exclusive",
      );
  }),
  check("anonymous requests are configured in one place", (settings, blame, { isSet, dialect }) => {
    const { authenticationConfig: path } = settings;
    if (path !== "" && isSet("anonymousAuth") && configuresAnonymous(path, dialect))
      blame(
        ["anonymousAuth", "authenticationConfig"],
        "the flag cannot be set when the field anonymous is configured in the file",
      );
  }),
  check("authorizers are configured by flags or by a file", (settings, blame, { isSet }) => {
    const flags = authorizerFlags.filter(isSet);
    if (settings.authorizationConfig !== "" && flags.length > 0)
      blame(
        ["authorizationConfig", ...flags],
        "can not be specified when --authorization-mode or --authorization-webhook-* flags are defined",
      );
  }),
  check("authorization modes and their files are set together", (settings, blame) => {
    if (settings.authorizationConfig !== "") return;
    const pairs = [
      ["ABAC", "authorizationPolicyFile"],
      ["Webhook", "authorizationWebhookConfigFile"],
    ] as const;
    for (const [mode, file] of pairs) {
      const wanted = settings.authorizationMode.includes(mode);
      if (wanted && settings[file] === "") blame(["authorizationMode", file], `mode ${mode} needs its file`);
      if (!wanted && settings[file] !== "")
        blame([file, "authorizationMode"], `is of use only with mode ${mode}`);
    }
  }),
  check("admission plug-ins are configured in one way", ({ admissionControl }, blame, { isSet }) => {
    const others = (["enableAdmissionPlugins", "disableAdmissionPlugins"] as const).filter(isSet);
    if (isSet("admissionControl") && others.length > 0)
      blame(
        ["admissionControl", ...others],
        "admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive",
      );
    for (const name of admissionControl)
      if (!Object.hasOwn(admissionPlugins, name))
        blame(["admissionControl"], `admission-control plugin ${JSON.stringify(name)} is unknown`);
  }),
  check("no plug-in is both enabled and disabled", (settings, blame, { enabled }) => {
    const both = settings.enableAdmissionPlugins.filter((name) =>
      settings.disableAdmissionPlugins.includes(name),
    );
    if (both.length > 0)
      blame(
        ["enableAdmissionPlugins", "disableAdmissionPlugins"],
        `${both.join(", ")} cannot be both enabled and disabled`,
      );
    if (settings.enableAdmissionPlugins.includes("SecurityContextDeny") && !enabled("SecurityContextDeny"))
      blame(
        ["enableAdmissionPlugins", "featureGates"],
        "SecurityContextDeny needs the feature gate of the same name",
      );
  }),
  check("automatic reload requires an encryption configuration file", (settings, blame) => {
    if (settings.encryptionProviderConfigAutomaticReload && settings.encryptionProviderConfig === "")
      blame(
        ["encryptionProviderConfigAutomaticReload", "encryptionProviderConfig"],
        "there is no file to reload",
      );
  }),

  check("service ranges are one range, or two of different families", ({ serviceClusterIpRange }, blame) => {
    const ranges = serviceClusterIpRange.map(parseCidr);
    if (ranges.length > 2) blame(["serviceClusterIpRange"], "at most two ranges may be given");
    else if (ranges.length === 2 && ranges[0]!.family === ranges[1]!.family)
      blame(["serviceClusterIpRange"], "two ranges must be of different IP families");
    for (const { family, bits, address } of ranges) {
      const width = family === 4 ? 32 : 128;
      if (width - bits > maxRangeBits)
        blame(
          ["serviceClusterIpRange"],
          `${address}/${bits} is too large; the range must be /${width - maxRangeBits} or smaller`,
        );
      if (width - bits < 3)
        blame(
          ["serviceClusterIpRange"],
          `${address}/${bits} is too small; at least eight addresses are needed`,
        );
    }
  }),
  check(
    "the port of the server's own service is a node port",
    ({ orchServiceNodePort: port, serviceNodePortRange: { from, to } }, blame) => {
      if (port !== 0 && (port < from || port > to))
        blame(
          ["orchServiceNodePort", "serviceNodePortRange"],
          `${port} is outside the range of node ports ${from}-${to}`,
        );
    },
  ),
  check("nodes are authorized by selectors only if all requests are", (_settings, blame, { enabled }) => {
    if (enabled("AuthorizeNodeWithSelectors") && !enabled("AuthorizeWithSelectors"))
      blame(
        ["featureGates"],
        "AuthorizeNodeWithSelectors can only be enabled if AuthorizeWithSelectors is enabled",
      );
  }),
  check("tokens are bound to nodes only if that is validated", (_settings, blame, { enabled }) => {
    const needed = "ServiceAccountTokenNodeBindingValidation";
    if (enabled("ServiceAccountTokenNodeBinding") && !enabled(needed))
      blame(["featureGates"], `ServiceAccountTokenNodeBinding can only be enabled if ${needed} is enabled`);
  }),
  check("--runtime-config names existing APIs", ({ release, runtimeConfig }, blame, { dialect }) => {
    for (const problem of runtimeConfigProblems(runtimeConfig, dialect, minorOf(release)))
      blame(["runtimeConfig"], problem);
  }),
  check(
    "--runtime-config leaves the API of priority and fairness on",
    (settings, blame, { dialect, enabled }) => {
      const fair = settings.enablePriorityAndFairness && enabled("APIPriorityAndFairness");
      // In later releases the API is not a beta, and kube-apiserver checks nothing.
      if (!fair || settings.release !== "1.27") return;
      const version = `${groupName(dialect, { group: "flowcontrol.apiserver", branded: true })}/v1beta3`;
      const deciding = [version, "api/beta", "api/all"].find(
        (key) => settings.runtimeConfig[key] !== undefined,
      );
      if (deciding && settings.runtimeConfig[deciding] === "false")
        blame(
          ["runtimeConfig", "enablePriorityAndFairness"],
          `${deciding}=false turns off the API that priority and fairness needs`,
        );
    },
  ),
  check("priority and fairness has positive concurrency", (settings, blame, { enabled }) => {
    const fair = settings.enablePriorityAndFairness && enabled("APIPriorityAndFairness");
    if (fair && settings.maxRequestsInflight + settings.maxMutatingRequestsInflight <= 0)
      blame(
        ["maxRequestsInflight", "maxMutatingRequestsInflight"],
        "their sum must be positive when priority and fairness is on",
      );
  }),

  ...(["Log", "Webhook"] as const).map((end) =>
    check(`the audit ${end.toLowerCase()} settings are valid`, (settings, blame) => {
      if ((end === "Log" ? settings.auditLogPath : settings.auditWebhookConfigFile) === "") return;
      if (settings[`audit${end}Mode`] === "batch") {
        if (settings[`audit${end}BatchBufferSize`] <= 0)
          blame([`audit${end}BatchBufferSize`], "must be above 0 in batch mode");
        if (settings[`audit${end}BatchMaxSize`] <= 0)
          blame([`audit${end}BatchMaxSize`], "must be above 0 in batch mode");
        if (settings[`audit${end}BatchThrottleEnable`]) {
          if (settings[`audit${end}BatchThrottleQps`] <= 0)
            blame([`audit${end}BatchThrottleQps`], "must be above 0 when batches are throttled");
          if (settings[`audit${end}BatchThrottleBurst`] <= 0)
            blame([`audit${end}BatchThrottleBurst`], "must be above 0 when batches are throttled");
        }
      }
      if (
        settings[`audit${end}TruncateEnabled`] &&
        settings[`audit${end}TruncateMaxBatchSize`] < settings[`audit${end}TruncateMaxEventSize`]
      ) {
        blame(
          [`audit${end}TruncateMaxBatchSize`, `audit${end}TruncateMaxEventSize`],
          "a batch must have room for one event of the largest size",
        );
      }
    }),
  ),

  check("anonymous requests are not combined with AlwaysAllow", (settings, _blame, { warn }) => {
    const flags = settings.authorizationConfig === "" ? settings.authorizationMode : [];
    if (settings.anonymousAuth && !allowsAnonymous(settings.anonymousAuth, flags))
      warn(
        "--anonymous-auth cannot be combined with the authorization mode AlwaysAllow: requests without a credential are refused; choose another mode",
      );
  }),
  check("deprecated settings cause warnings", (settings, _blame, { warn }) => {
    if (settings.endpointReconcilerType === "master-count")
      warn("--endpoint-reconciler-type=master-count is deprecated; use lease");
    for (const warning of cipherSuiteWarnings(settings.tlsCipherSuites))
      warn(`--tls-cipher-suites: ${warning}`);
    if (settings.watchCacheSizes.length > 0 && !settings.watchCache)
      warn("--watch-cache-sizes has no effect without --watch-cache");
  }),
];
