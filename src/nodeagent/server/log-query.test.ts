import assert from "node:assert/strict";
import { test } from "node:test";
import { journalArguments, logQueryProblem, parseLogQuery, queryOf } from "./log-query.ts";

const problemOf = async (search: string): Promise<string | undefined> => {
  const parsed = parseLogQuery(queryOf(search));
  if ("error" in parsed) return `400 ${parsed.error}`;
  if (!parsed.query) return "no query";
  const problem = await logQueryProblem(parsed.query, async (name) =>
    name === "/there" ? undefined : `stat ${name}: no such file or directory`,
  );
  return problem && `406 ${problem}`;
};

const cases: [search: string, problem: string | undefined][] = [
  ["", "no query"],
  ["?unknown=1", "no query"],
  ["?query=bad;name", "no query"],
  ["?query=a", undefined],
  ["?query=a&tailLines=0&boot=-1&pattern=x%2B&sinceTime=2023-01-02T00:00:00Z", undefined],
  ["?query=%2Fthere", undefined],
  ["?query=", '400 query: Invalid value: []string{""}: query cannot be empty'],
  ["?query=%20", '400 query: Invalid value: []string{" "}: query cannot be empty'],
  ["?query=a&boot=x", '400 boot: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax'],
  ["?query=a&untilTime=nope", '400 untilTime: Invalid value: "nope": invalid time format'],
  ["?tailLines=5", "406 query: Required value: cannot be empty with options"],
  ["?query=a&tailLines=-1", "406 tailLines: Invalid value: -1: must be between 0 and 100000, inclusive"],
  ["?query=a&boot=1", "406 boot: Invalid value: 1: must be less than 1"],
  ["?query=a%20b", '406 query: Invalid value: "a b": input contains unsupported characters'],
  ["?query=a.log", '406 query: Invalid value: "a.log": input contains unsupported characters'],
  ["?query=a&query=b&query=c&query=d&query=e", "406 query: Too many: 5: must have at most 4 items"],
  ["?query=a&pattern=%5B", '406 pattern: Invalid value: "[": error parsing regexp: missing closing ]: `[`'],
  ["?query=a&query=%2Fb", '406 query: Invalid value: "[/b], [a]": cannot specify a file and service'],
  [
    "?query=%2Fa&query=%2Fb",
    '406 query: Invalid value: []string{"/a", "/b"}: cannot specify more than one file',
  ],
  ["?query=%2Fa&boot=0", '406 query: Invalid value: []string{"/a"}: cannot specify file with options'],
  ["?query=%2Fa", '406 query: Invalid value: []string{"/a"}: stat /a: no such file or directory'],
  [
    "?query=a&sinceTime=2023-01-02T00:00:00Z&untilTime=2023-01-01T00:00:00Z",
    "406 untilTime: Invalid value: 2023-01-01 00:00:00 +0000 UTC: must be after `sinceTime`",
  ],
];
for (const [search, problem] of cases)
  test(`the query ${search || "of nothing"} is ${problem === undefined ? "good" : `answered ${problem}`}`, async () =>
    assert.equal(await problemOf(search), problem));

test("journalctl gets every option as one argument", () => {
  const parsed = parseLogQuery(
    queryOf("?query=a&query=b&tailLines=3&boot=-1&pattern=x&sinceTime=2023-01-02T03:04:05Z"),
  );
  assert.ok("query" in parsed && parsed.query);
  assert.deepEqual(journalArguments(parsed.query, ["a", "b"]).slice(3), [
    "--since=2023-01-02 03:04:05",
    "--pager-end",
    "--lines=3",
    "--unit=a",
    "--unit=b",
    "--grep=x",
    "--boot",
    "-1",
  ]);
});
