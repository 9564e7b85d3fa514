// The architecture as rules over source text. Each rule carries a source that violates it, so that a rule
// that has stopped working is detected.

import { vagueComments } from "./language.ts";

export interface Source {
  /** Path relative to the package's root, such as `src/store/store.ts`. */
  readonly file: string;
  readonly text: string;
}

export interface Rule {
  readonly name: string;
  /** Returns the violations in one file. */
  readonly breaches: (source: Source) => readonly string[];
  readonly example: Source;
}

/** The rooms in order: a room imports only from rooms listed before it. */
export const rooms = [
  "base",
  "dialect",
  "schema",
  "options",
  "api",
  "http",
  "tracing",
  "store",
  "client",
  "cri",
  "watchcache",
  "cel",
  "authn",
  "authz",
  "admission",
  "audit",
  "fairness",
  "registry",
  "endpoints",
  "filters",
  "virtual",
  "extensions",
  "timeline",
  "apiserver",
  "controllerkit",
  "controllers",
  "scheduler",
  "metricsapi",
  "proxy",
  "dns",
  "nodeagent",
  "ui",
  "bin",
] as const;

const serverOnly =
  "store watchcache admission audit fairness registry endpoints filters virtual extensions timeline apiserver".split(
    " ",
  );
const clientsOfTheApi = [
  "controllerkit",
  "controllers",
  "scheduler",
  "metricsapi",
  "proxy",
  "dns",
  "nodeagent",
];

const maximumLines = 500;

export const roomOf = (file: string): string | undefined => /^src\/(\w+)\//.exec(file)?.[1];
const isTest = (file: string): boolean =>
  /\.(test|contract|fixture)\.ts$|^test\/|\/(testdata|fixtures|golden)\//.test(file);
const importsKnown = new Map<string, readonly string[]>();
/** Cached, because several rules need the imports of the same file. */
const importsOf = (text: string): readonly string[] =>
  importsKnown.getOrInsertComputed(text, () =>
    [...text.matchAll(/(?:\bfrom|^\s*import|\bimport\()\s*"([^"\n]+)"/gm)].map((found) => found[1]!),
  );
/** The multiline test skips the many files that have no such line. */
const linesWith = ({ file, text }: Source, pattern: RegExp): string[] =>
  new RegExp(pattern, `${pattern.flags}m`).test(text)
    ? text
        .split("\n")
        .flatMap((line, index) =>
          pattern.test(line) ? [`${file}:${index + 1}: ${line.trim().slice(0, 120)}`] : [],
        )
    : [];

/**
 * Returns the text with comments blanked, which preserves line numbers. Strings that contain `//` are kept.
 */
const withoutComments = (text: string): string =>
  text.replaceAll(
    /("(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*')|\/\*[\s\S]*?\*\/|(?<![:\\])\/\/.*$/gm,
    (found, literal: string | undefined) => literal ?? found.replaceAll(/[^\n]/g, " "),
  );

const productName = /orch\.io|k8s\.io|kubernetes|kubelet|kubectl|\bkube-/i;

/** The page is bundled, so the packages it consists of are needed for the build only. */
const bundledIntoThePage = ["preact", "uplot"];

/** Returns the rules; `dependencies` are the packages that shipped code may import. */
export function rulesFor(dependencies: readonly string[]): readonly Rule[] {
  return [
    {
      name: "every file below src is in a room of the list",
      breaches: ({ file }) =>
        file.startsWith("src/") && !rooms.some((room) => room === roomOf(file)) ? [file] : [],
      example: { file: "src/cellar/wine.ts", text: "" },
    },
    {
      name: "a room imports only rooms listed before it",
      breaches: ({ file, text }) => {
        const place = rooms.findIndex((room) => room === roomOf(file));
        if (place < 0) return [];
        return importsOf(text)
          .filter((to) => to.startsWith("#") && to !== "#kit")
          .filter((to) => {
            const target = rooms.findIndex((room) => `#${room}` === to);
            return target < 0 || target > place || (target === place && !isTest(file));
          })
          .map((to) => `${file} imports ${to}`);
      },
      example: { file: "src/store/a.ts", text: 'import { x } from "#registry";' },
    },
    {
      name: "agent, scheduler and controllers see the cluster through the client only",
      breaches: ({ file, text }) =>
        clientsOfTheApi.includes(roomOf(file) ?? "") && !isTest(file)
          ? importsOf(text)
              .filter((to) => serverOnly.some((room) => to === `#${room}`))
              .map((to) => `${file} imports ${to}`)
          : [],
      example: { file: "src/nodeagent/a.ts", text: 'import { x } from "#store";' },
    },
    {
      name: "a relative import stays in its room",
      breaches: ({ file, text }) => {
        const room = roomOf(file);
        return importsOf(text)
          .filter((to) => to.startsWith("."))
          .filter(
            (to) =>
              room !== undefined && !new URL(to, `file:///${file}`).pathname.startsWith(`/src/${room}/`),
          )
          .map((to) => `${file} imports ${to}`);
      },
      example: { file: "src/store/sqlite/a.ts", text: 'import { x } from "../../base/clock.ts";' },
    },
    {
      name: "only tests import the test kit",
      breaches: ({ file, text }) =>
        !isTest(file) && !file.startsWith("bench/") && importsOf(text).includes("#kit") ? [file] : [],
      example: { file: "src/store/a.ts", text: 'import { golden } from "#kit";' },
    },
    {
      name: "shipped code imports only declared dependencies",
      breaches: ({ file, text }) =>
        !file.startsWith("src/") || isTest(file)
          ? []
          : importsOf(text)
              .filter((to) => !/^[.#]|^node:/.test(to))
              .filter(
                (to) =>
                  !(roomOf(file) === "ui" ? bundledIntoThePage : dependencies).includes(
                    to.startsWith("@") ? to.split("/").slice(0, 2).join("/") : to.split("/")[0]!,
                  ),
              )
              .map((to) => `${file} imports ${to}`),
      example: { file: "src/store/a.ts", text: 'import fc from "fast-check";' },
    },
    {
      name: "index files list their exports by name",
      breaches: (source) => linesWith(source, /^export \*/),
      example: { file: "src/store/index.ts", text: 'export * from "./store.ts";' },
    },
    {
      name: "only dialect/ spells product names outside comments",
      breaches: ({ file, text }) =>
        file.startsWith("src/") && roomOf(file) !== "dialect" && !isTest(file) && productName.test(text)
          ? linesWith({ file, text: withoutComments(text) }, productName)
          : [],
      example: { file: "src/authz/a.ts", text: 'const group = "rbac.authorization.k8s.io"; // as kubectl' },
    },
    {
      name: `a file has at most ${maximumLines} lines, declarations of kinds excepted`,
      breaches: ({ file, text }) => {
        const lines = text.split("\n").length - 1;
        return lines > maximumLines && roomOf(file) !== "api" ? [`${file} has ${lines}`] : [];
      },
      example: { file: "src/store/a.ts", text: "\n".repeat(maximumLines + 1) },
    },
    {
      name: "a file begins with a comment that describes it",
      breaches: ({ file, text }) =>
        file.startsWith("src/") &&
        !isTest(file) &&
        !file.endsWith("/index.ts") &&
        !/^(#!.*\n)?\/[/*]/.test(text)
          ? [file]
          : [],
      example: { file: "src/store/a.ts", text: "export const x = 1;" },
    },
    {
      name: "comments contain no to-do markers",
      breaches: (source) => linesWith(source, /\b(TODO|FIXME|XXX|HACK)\b/),
      example: { file: "src/store/a.ts", text: `// ${"TO"}DO: write this` },
    },
    {
      name: "comments and test names are in plain technical English",
      breaches: ({ file, text }) => vagueComments(file, text),
      example: { file: "src/store/a.ts", text: `// The revision is ${"to"}ld to whom it concerns.` },
    },
    {
      name: "no test is skipped or focused by hand",
      breaches: (source) =>
        /\.(test|contract|fixture)\.ts$/.test(source.file)
          ? linesWith(source, /\b(test|it|describe|suite)\.(only|skip|todo)\(|\b(only|skip|todo): true\b/)
          : [],
      example: { file: "src/store/a.test.ts", text: `test.${"only"}("x", () => {});` },
    },
    {
      name: "no file contains a path of a developer's machine",
      breaches: (source) =>
        linesWith(
          source,
          isTest(source.file)
            ? /(?<![\w.}])\/(work|home|Users)\//
            : /(?<![\w.}])\/(work|home|Users|tmp|root)\//,
        ),
      example: { file: "src/store/a.ts", text: `const folder = "/${"home"}/me/x";` },
    },
  ];
}
