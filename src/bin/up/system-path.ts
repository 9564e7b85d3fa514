// Where programs of the system are looked for: who became root with a plain `su` has no folder of them on the
// path.
export const programFolders = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

export const systemPath = [process.env["PATH"] ?? "", ...programFolders].join(":");
