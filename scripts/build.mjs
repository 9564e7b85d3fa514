// npm run build: compiles src/ to dist/ unless nothing changed. `npm ci` runs it, too; without the compiler (a
// production install) an existing build is used.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { build, root } from "./setup.mjs";

const asPrepare = process.env.npm_lifecycle_event === "prepare";
if (asPrepare && !existsSync(join(root, "node_modules", "typescript"))) process.exit(0);
process.exitCode = (await build()) ? 0 : 1;
