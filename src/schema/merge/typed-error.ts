// Error for a value that does not match its merge type, with all findings.

export interface TypedFinding {
  /** The path as messages show it, such as `.spec.containers[name="web"]`; empty for the root. */
  readonly path: string;
  readonly message: string;
}

export class TypedError extends Error {
  override readonly name = "TypedError";
  readonly findings: readonly TypedFinding[];

  constructor(findings: readonly TypedFinding[]) {
    super(
      findings.length === 1
        ? line(findings[0]!)
        : ["errors:", ...findings.map((each) => `  ${line(each)}`)].join("\n"),
    );
    this.findings = findings;
  }
}

const line = ({ path, message }: TypedFinding): string => (path === "" ? message : `${path}: ${message}`);
