// Sets up the image credential providers from the settings.
import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Metrics } from "#base";
import type { AgentDeps } from "./agent-parts.ts";
import { type CredentialProviders, credentialProviders } from "./credentials/credential-providers.ts";
import { runProvider } from "./credentials/provider-program.ts";
import { readCredentialProviders } from "./options/credential-providers.ts";

/** Returns undefined if none are configured. Rejects if the file or a provider program cannot be used. */
export async function credentialProvidersOf(
  { settings, dialect, clock, log }: Pick<AgentDeps, "settings" | "dialect" | "clock" | "log">,
  metrics: Metrics,
): Promise<CredentialProviders | undefined> {
  const { imageCredentialProviderConfig: file, imageCredentialProviderBinDir: directory } = settings;
  if (!file && !directory) return undefined;
  if (!directory)
    throw new Error("plugin binary directory is not given: --image-credential-provider-bin-dir");
  if (!file) throw new Error("--image-credential-provider-bin-dir needs --image-credential-provider-config");
  await access(directory).catch(() => {
    throw new Error(`plugin binary directory ${directory} did not exist`);
  });
  const { providers, problems } = await readCredentialProviders(file, dialect);
  if (problems.length > 0) throw new Error(problems.join("; "));
  // The execute permission is checked only when the program runs, because it may still change.
  for (const { name = "" } of providers)
    await access(join(directory, name)).catch(() => {
      throw new Error(`plugin binary executable ${join(directory, name)} did not exist`);
    });
  const prefix = dialect.data.agentMetricPrefix;
  const took = metrics.histogram({
    name: `${prefix}credential_provider_plugin_duration`,
    help: "Duration of credential provider plugin runs in seconds, by plugin.",
    labels: ["plugin_name"],
    stability: "ALPHA",
  });
  const errors = metrics.counter({
    name: `${prefix}credential_provider_plugin_errors`,
    help: "Number of failed credential provider plugin runs, by plugin.",
    labels: ["plugin_name"],
    stability: "ALPHA",
  });
  return credentialProviders({
    clock,
    log,
    onRun: (name, milliseconds, isGood) => {
      took.with(name).observe(milliseconds / 1000);
      if (!isGood) errors.with(name).add();
    },
    providers: providers.map(({ name = "", args = [], env = [], ...provider }) => ({
      name,
      matchImages: provider.matchImages,
      defaultCacheMilliseconds: provider.defaultCacheDuration,
      apiVersion: provider.apiVersion,
      run: (input, signal) =>
        runProvider(
          {
            path: join(directory, name),
            args,
            environment: env.map((one) => ({ name: one.name ?? "", value: one.value ?? "" })),
          },
          input,
          signal,
        ),
    })),
  });
}
