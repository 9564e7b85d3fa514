// Command line arguments of a benchmark: `--objects=10000`, `--source`.

const words = new Map(
  process.argv
    .slice(2)
    .map((word) => /^--([^=]+)(?:=(.*))?$/s.exec(word))
    .flatMap((found) => (found ? [[found[1]!, found[2] ?? ""] as const] : [])),
);

export const isGiven = (name: string): boolean => words.has(name);

export const given = (name: string): string | undefined => words.get(name);

export const givenNumber = (name: string, usual: number): number => Number(words.get(name) ?? usual);

/** `--servers=1,2,4` */
export const givenNumbers = (name: string, usual: readonly number[]): readonly number[] =>
  words.get(name)?.split(",").map(Number) ?? usual;
