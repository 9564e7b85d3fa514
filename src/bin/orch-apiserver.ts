// The API server's program: read the flags, start, run until told to stop.
import { settleFlags, start } from "#apiserver";
import { createLog } from "#base";
import { dialectArgument, dialectNamed } from "#dialect";
import { helpText } from "#options";
import { apiserverOptions, versionText } from "#apiserver";

const argv = process.argv.slice(2);
process.exitCode = await main();

async function main(): Promise<number> {
  const name = dialectArgument(argv) ?? "orch";
  const chosen = dialectNamed(name);
  if (!chosen) {
    process.stderr.write(`--dialect: "${name}" is not a dialect; known are orch and kubernetes\n`);
    return 1;
  }
  const settled = settleFlags(chosen, argv);
  if (settled.asked === "help") {
    process.stdout.write(helpText(apiserverOptions(chosen)));
    return 0;
  }
  if (settled.asked === "version") {
    process.stdout.write(`${versionText()}\n`);
    return 0;
  }
  for (const text of settled.warnings) process.stderr.write(`${text}\n`);
  if (settled.errors.length > 0) {
    for (const text of settled.errors) process.stderr.write(`${text}\n`);
    return 1;
  }
  const log = createLog({ verbosity: settled.values.v });
  let server;
  try {
    server = await start({ dialect: chosen, settings: settled.values, log });
  } catch (error) {
    log.error("the server could not start", { error: (error as Error).message });
    process.stderr.write(`${(error as Error).message}\n`);
    return 1;
  }
  log.info("serving", { url: server.url, dialect: chosen.name });
  await new Promise<void>((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });
  log.info("stopping");
  await server.stop();
  log.flush();
  return 0;
}
