// Converts the audit flags to the settings of the audit package.
import type { AuditSettings } from "#audit";
import type { ApiserverSettings } from "../options/settings.ts";

export const auditSettings = (settings: ApiserverSettings): AuditSettings => ({
  policyFile: settings.auditPolicyFile,
  log:
    settings.auditLogPath === ""
      ? undefined
      : {
          path: settings.auditLogPath,
          apiVersion: settings.auditLogVersion,
          format: settings.auditLogFormat,
          maxMegabytes: settings.auditLogMaxsize,
          maxBackups: settings.auditLogMaxbackup,
          maxAgeDays: settings.auditLogMaxage,
          compress: settings.auditLogCompress,
          mode: settings.auditLogMode,
          bufferSize: settings.auditLogBatchBufferSize,
          maxBatchSize: settings.auditLogBatchMaxSize,
          maxWaitMilliseconds: settings.auditLogBatchMaxWait,
          throttle: settings.auditLogBatchThrottleEnable
            ? { perSecond: settings.auditLogBatchThrottleQps, burst: settings.auditLogBatchThrottleBurst }
            : undefined,
          truncate: settings.auditLogTruncateEnabled
            ? {
                maxEventBytes: settings.auditLogTruncateMaxEventSize,
                maxBatchBytes: settings.auditLogTruncateMaxBatchSize,
              }
            : undefined,
        },
  webhook:
    settings.auditWebhookConfigFile === ""
      ? undefined
      : {
          configFile: settings.auditWebhookConfigFile,
          apiVersion: settings.auditWebhookVersion,
          initialBackoffMilliseconds: settings.auditWebhookInitialBackoff,
          mode: settings.auditWebhookMode,
          bufferSize: settings.auditWebhookBatchBufferSize,
          maxBatchSize: settings.auditWebhookBatchMaxSize,
          maxWaitMilliseconds: settings.auditWebhookBatchMaxWait,
          throttle: settings.auditWebhookBatchThrottleEnable
            ? {
                perSecond: settings.auditWebhookBatchThrottleQps,
                burst: settings.auditWebhookBatchThrottleBurst,
              }
            : undefined,
          truncate: settings.auditWebhookTruncateEnabled
            ? {
                maxEventBytes: settings.auditWebhookTruncateMaxEventSize,
                maxBatchBytes: settings.auditWebhookTruncateMaxBatchSize,
              }
            : undefined,
        },
});
