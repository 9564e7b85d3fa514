// Why a file could not be used, as Go's os package says it: `open /x: no such file or directory`.

const texts: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  EACCES: "permission denied",
  ECONNREFUSED: "connection refused",
  EPERM: "operation not permitted",
  EISDIR: "is a directory",
  ENOTDIR: "not a directory",
  ELOOP: "too many levels of symbolic links",
  ENAMETOOLONG: "file name too long",
};

/** What an errno means, as C libraries and Go say it. */
export const errnoText = ({ code = "" }: NodeJS.ErrnoException): string | undefined => texts[code];

export function fileErrorText(error: unknown, file: string): string {
  const { code = "", syscall = "open", message } = error as NodeJS.ErrnoException;
  const text = texts[code];
  return text === undefined ? message : `${syscall} ${file}: ${text}`;
}
