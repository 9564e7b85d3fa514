// Errors of file operations as Go's os package prints them: `open /x: no such file or directory`.

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

/** The message of an errno, as in C libraries and Go. */
export const errnoText = ({ code = "" }: NodeJS.ErrnoException): string | undefined => texts[code];

export function fileErrorText(error: unknown, file: string): string {
  const { code = "", syscall = "open", message } = error as NodeJS.ErrnoException;
  const text = texts[code];
  return text === undefined ? message : `${syscall} ${file}: ${text}`;
}
