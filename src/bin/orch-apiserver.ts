// The API server's program.
import { runApiserver } from "./apiserver-program.ts";

process.exitCode = await runApiserver(process.argv.slice(2));
