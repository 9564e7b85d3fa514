// The system packages required by tests against real programs: installed with apt if possible, otherwise listed.
// Tests declare a program with `needs()` from the test kit and are skipped with the reason if it is missing.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";

const packages = JSON.parse(readFileSync(new URL("system-packages.json", import.meta.url), "utf8"));
const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];
const present = (program) =>
  program.startsWith("/") ? existsSync(program) : folders.some((folder) => existsSync(join(folder, program)));

export const missingPackages = () => Object.keys(packages).filter((name) => !packages[name].every(present));

/** Installs missing packages if this is root on a machine with apt; otherwise prints how to install them. */
export function installSystemPackages() {
  const missing = missingPackages();
  if (missing.length === 0) return;
  if (!hasApt())
    return console.error(`Missing on this machine, so some tests are skipped: ${missing.join(", ")}`);
  if (!mayInstall())
    return console.error(
      `Some tests are skipped; to run them too: sudo apt-get install -y --no-install-recommends ${missing.join(" ")}`,
    );
  if (installPackages(missing)) return;
  for (const name of missing) apt(["install", "-y", "-qq", "--no-install-recommends", name]);
  const still = missingPackages();
  if (still.length) console.error(`Could not be installed, so some tests are skipped: ${still.join(", ")}`);
}

const hasApt = () => process.platform === "linux" && existsSync("/usr/bin/apt-get");

/** Reports whether system packages may be installed: as root on a machine with apt, unless disabled. */
export const mayInstall = () => hasApt() && process.getuid?.() === 0 && !process.env.ORCH_NO_APT;

export function installPackages(names) {
  console.error(`Installing system packages: ${names.join(", ")}`);
  apt(["update", "-qq"]);
  return apt(["install", "-y", "--no-install-recommends", ...names]);
}

function apt(args) {
  const { status, stderr } = spawnSync("apt-get", args, {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  if (status !== 0)
    console.error(`apt-get ${args[0]}: ${String(stderr).trim().split("\n").slice(-3).join("\n")}`);
  return status === 0;
}
