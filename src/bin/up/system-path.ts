// Search path for system programs: a plain `su` to root leaves the sbin folders out of PATH.
export const programFolders = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

export const systemPath = [process.env["PATH"] ?? "", ...programFolders].join(":");
