// Expands $(NAME) in commands, arguments and values. `$$` stands for one `$`; an unknown name is left as
// written.
export function expand(text: string, valueOf: (name: string) => string | undefined): string {
  let result = "";
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== "$" || at + 1 >= text.length) {
      result += text[at];
      continue;
    }
    const following = text[at + 1]!;
    if (following === "$") {
      result += "$";
      at++;
    } else if (following === "(") {
      const end = text.indexOf(")", at + 2);
      if (end < 0) {
        result += "$(";
        at++;
      } else {
        const name = text.slice(at + 2, end);
        result += valueOf(name) ?? `$(${name})`;
        at = end;
      }
    } else {
      result += `$${following}`;
      at++;
    }
  }
  return result;
}
