// The controller manager's program: read the flags, start, run until told to stop.
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { versionText } from "#apiserver";
import { signingKey } from "#authn";
import { createLog, logSink, systemClock } from "#base";
import { clusterView } from "#controllerkit";
import { type ControllerSettings, defaultSettings, runControllerManager } from "#controllers";
import { chosenDialect } from "#dialect";
import { answerOperator, settle, terminalWidth } from "#options";
import { type ManagerSettings, managerOptions } from "./control/control-options.ts";
import { runProgram } from "./control/run-program.ts";

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  const err = (text: string): void => void process.stderr.write(text);
  const choice = chosenDialect(argv);
  if ("problem" in choice) {
    err(`error: ${choice.problem}\n`);
    return 1;
  }
  const { dialect } = choice;
  const options = managerOptions(dialect);
  const settled = settle(options, argv);
  const answered = answerOperator(options, settled, {
    version: versionText(),
    width: terminalWidth(process.env, process.stdout.columns),
    out: (text) => void process.stdout.write(text),
    err,
  });
  if (answered !== undefined) return answered;
  const { values } = settled;
  if (values.orchconfig === "") {
    err(`error: --${dialect.spelling.flag("orchconfig")} names the client configuration and is needed\n`);
    return 1;
  }
  const log = createLog({ verbosity: values.v, sink: logSink({ descriptor: 2 }) });
  try {
    const settings = settingsFrom(values);
    return await runProgram(dialect, values, log, async ({ client, metrics, signal }) => {
      const shared = { client, clock: systemClock, signal, log };
      const view = clusterView(shared);
      const enabled = values.controllers;
      await runControllerManager({ ...shared, view, dialect, metrics, enabled, settings });
    });
  } catch (error) {
    err(`error: ${(error as Error).message}\n`);
    return 1;
  }
}

function settingsFrom(values: ManagerSettings): Partial<ControllerSettings> {
  const text = (file: string): string => readFileSync(file, "utf8");
  const { clusterSigningCertFile, clusterSigningKeyFile } = values;
  if ((clusterSigningCertFile === "") !== (clusterSigningKeyFile === ""))
    throw new Error("--cluster-signing-cert-file and --cluster-signing-key-file go together");
  if (values.allocateNodeCidrs && values.clusterCidr === "")
    throw new Error("--allocate-node-cidrs needs --cluster-cidr");
  const certificate = clusterSigningCertFile === "" ? undefined : text(clusterSigningCertFile);
  return {
    ...(values.rootCaFile !== "" && { rootCa: text(values.rootCaFile) }),
    ...(values.serviceAccountPrivateKeyFile !== "" && {
      serviceAccountKey: signingKey(values.serviceAccountPrivateKeyFile),
    }),
    ...(certificate !== undefined && {
      signing: {
        authority: { certificate, key: text(clusterSigningKeyFile) },
        seconds: values.clusterSigningDuration / 1000,
        authorityEnds: new X509Certificate(certificate).validToDate.getTime(),
      },
    }),
    ...(values.allocateNodeCidrs && { clusterCidr: values.clusterCidr }),
    nodeMaskSize: values.nodeCidrMaskSize,
    nodeMonitorPeriodMilliseconds: values.nodeMonitorPeriod,
    nodeMonitorGraceMilliseconds: values.nodeMonitorGracePeriod,
    nodeStartupGraceMilliseconds: values.nodeStartupGracePeriod,
    claimBinderSyncMilliseconds: values.pvclaimbinderSyncPeriod,
    terminatedPodThreshold: values.terminatedPodGcThreshold,
    autoscaler: {
      ...defaultSettings.autoscaler,
      syncMilliseconds: values.horizontalPodAutoscalerSyncPeriod,
      downscaleWindowSeconds: values.horizontalPodAutoscalerDownscaleStabilization / 1000,
      cpuInitializationMilliseconds: values.horizontalPodAutoscalerCpuInitializationPeriod,
      initialReadinessDelayMilliseconds: values.horizontalPodAutoscalerInitialReadinessDelay,
    },
  };
}
