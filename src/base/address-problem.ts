// Explains why a string is not an IP address, with the error texts of Go's net/netip, which clients know from
// kube-apiserver. Unlike in parseIp(), leading zeros are an error here, and an IPv4 address embedded in an
// IPv6 address is not converted.

/** Returns an error such as `ParseAddr("x"): unable to parse IP`, or undefined for a valid address. */
export function addressProblem(text: string): string | undefined {
  const found = problemOf(text);
  return found && shown(text, found);
}

interface Problem {
  readonly text: string;
  /** The rest of the input, from where the error was found. */
  readonly at?: string;
}

const shown = (text: string, { text: problem, at }: Problem): string =>
  `ParseAddr(${JSON.stringify(text)}): ${problem}${at ? ` (at ${JSON.stringify(at)})` : ""}`;

function problemOf(text: string): Problem | undefined {
  const mark = /[.:%]/.exec(text)?.[0];
  if (mark === ".") return problem4(text);
  if (mark === ":") return problem6(text);
  return { text: mark === "%" ? "missing IPv6 address" : "unable to parse IP" };
}

function problem4(text: string): Problem | undefined {
  let value = 0;
  let digits = 0;
  let dots = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (char >= "0" && char <= "9") {
      if (digits === 1 && value === 0) return { text: "IPv4 field has octet with leading zero" };
      value = value * 10 + Number(char);
      digits++;
      if (value > 255) return { text: "IPv4 field has value >255" };
    } else if (char === ".") {
      if (at === 0 || at === text.length - 1 || text[at - 1] === ".")
        return { text: "IPv4 field must have at least one digit", at: text.slice(at) };
      if (dots === 3) return { text: "IPv4 address too long" };
      dots++;
      value = 0;
      digits = 0;
    } else return { text: "unexpected character", at: text.slice(at) };
  }
  return dots < 3 ? { text: "IPv4 address too short" } : undefined;
}

function problem6(text: string): Problem | undefined {
  const percent = text.indexOf("%");
  let rest = percent < 0 ? text : text.slice(0, percent);
  if (percent === text.length - 1) return { text: "zone must be a non-empty string" };
  let gap = rest.startsWith("::");
  if (gap) rest = rest.slice(2);
  if (gap && rest === "") return undefined;
  let bytes = 0;
  while (bytes < 16) {
    const digits = /^[0-9a-fA-F]*/.exec(rest)![0];
    if (Number.parseInt(digits, 16) > 0xffff) return { text: "IPv6 field has value >=2^16", at: rest };
    if (digits === "") return { text: "each colon-separated field must have at least one digit", at: rest };
    if (rest[digits.length] === ".") {
      const wrong = dottedProblem(rest, bytes, gap);
      if (wrong) return wrong;
      rest = "";
      bytes += 4;
      break;
    }
    bytes += 2;
    rest = rest.slice(digits.length);
    if (rest === "") break;
    if (rest[0] !== ":") return { text: "unexpected character, want colon", at: rest };
    if (rest.length === 1) return { text: "colon must be followed by more characters", at: rest };
    rest = rest.slice(1);
    if (rest[0] !== ":") continue;
    if (gap) return { text: "multiple :: in address", at: rest };
    gap = true;
    rest = rest.slice(1);
    if (rest === "") break;
  }
  if (rest !== "") return { text: "trailing garbage after address", at: rest };
  if (bytes < 16) return gap ? undefined : { text: "address string too short" };
  return gap ? { text: "the :: must expand to at least one field of zeros" } : undefined;
}

function dottedProblem(rest: string, bytes: number, gap: boolean): Problem | undefined {
  if (!gap && bytes !== 12)
    return { text: "embedded IPv4 address must replace the final 2 fields of the address", at: rest };
  if (bytes + 4 > 16)
    return { text: "too many hex fields to fit an embedded IPv4 at the end of the address", at: rest };
  const inner = problem4(rest);
  return inner && { text: shown(rest, inner), at: rest };
}
