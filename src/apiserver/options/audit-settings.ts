// The audit flags, as the audit system takes them.
import type { AuditSettings, BackendSettings } from "#audit";
import type { ApiserverSettings } from "./settings.ts";

export function auditSettings(settings: ApiserverSettings): AuditSettings {
  return {
    policyFile: settings.auditPolicyFile,
    log:
      settings.auditLogPath === ""
        ? undefined
        : {
            ...backendSettings(settings, "Log"),
            path: settings.auditLogPath,
            format: settings.auditLogFormat,
            maxMegabytes: settings.auditLogMaxsize,
            maxBackups: settings.auditLogMaxbackup,
            maxAgeDays: settings.auditLogMaxage,
            compress: settings.auditLogCompress,
          },
    webhook:
      settings.auditWebhookConfigFile === ""
        ? undefined
        : {
            ...backendSettings(settings, "Webhook"),
            configFile: settings.auditWebhookConfigFile,
            initialBackoffMilliseconds: settings.auditWebhookInitialBackoff,
          },
  };
}

const backendSettings = (settings: ApiserverSettings, of: "Log" | "Webhook"): BackendSettings => ({
  mode: settings[`audit${of}Mode`],
  bufferSize: settings[`audit${of}BatchBufferSize`],
  maxBatchSize: settings[`audit${of}BatchMaxSize`],
  maxWaitMilliseconds: settings[`audit${of}BatchMaxWait`],
  throttle: settings[`audit${of}BatchThrottleEnable`]
    ? {
        perSecond: settings[`audit${of}BatchThrottleQps`],
        burst: settings[`audit${of}BatchThrottleBurst`],
      }
    : undefined,
  truncate: settings[`audit${of}TruncateEnabled`]
    ? {
        maxEventBytes: settings[`audit${of}TruncateMaxEventSize`],
        maxBatchBytes: settings[`audit${of}TruncateMaxBatchSize`],
      }
    : undefined,
});
