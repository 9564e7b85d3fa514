// The pod sandbox program, assembled here so that a sandbox needs no registry: it waits, exits on SIGTERM and
// SIGINT, and lets the kernel reap the orphans of a shared process namespace.
//
//   rt_sigaction(SIGTERM, exit); rt_sigaction(SIGINT, exit); rt_sigaction(SIGCHLD, ignore + no zombies)
//   for (;;) wait for a signal
//   exit: exit(0)

export type PauseArchitecture = "amd64" | "arm64";

const base = 0x400000n;
const headerBytes = 64 + 56;
const signals = { interrupt: 2, terminate: 15, child: 17 } as const;
const flags = { restorer: 0x0400_0000n, noChildWait: 2n } as const;
const ignore = 1n;
const machines: Readonly<Record<PauseArchitecture, number>> = { amd64: 62, arm64: 183 };

/** Returns a complete ELF executable with one segment. */
export function pauseProgram(architecture: PauseArchitecture): Buffer {
  const code = architecture === "amd64" ? amd64Code() : arm64Code();
  const size = BigInt(headerBytes + code.length);
  const header = Buffer.alloc(headerBytes);
  header.write("\x7fELF\x02\x01\x01", 0, "latin1");
  header.writeUInt16LE(2, 16); // an executable
  header.writeUInt16LE(machines[architecture], 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(base + BigInt(headerBytes), 24); // entry
  header.writeBigUInt64LE(64n, 32); // program headers
  header.writeUInt16LE(64, 52);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(1, 56);
  header.writeUInt16LE(64, 58);
  header.writeUInt32LE(1, 64); // PT_LOAD
  header.writeUInt32LE(5, 68); // read, execute
  header.writeBigUInt64LE(0n, 72);
  header.writeBigUInt64LE(base, 80);
  header.writeBigUInt64LE(base, 88);
  header.writeBigUInt64LE(size, 96);
  header.writeBigUInt64LE(size, 104);
  header.writeBigUInt64LE(0x1000n, 112);
  return Buffer.concat([header, code]);
}

/** struct kernel_sigaction: handler, flags, restorer, mask. */
const sigaction = (handler: bigint, flagBits: bigint, restorer: bigint): Buffer => {
  const bytes = Buffer.alloc(32);
  bytes.writeBigUInt64LE(handler, 0);
  bytes.writeBigUInt64LE(flagBits, 8);
  bytes.writeBigUInt64LE(restorer, 16);
  return bytes;
};

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
};

function amd64Code(): Buffer {
  // mov eax,13; mov edi,<signal>; lea rsi,[rip+<struct>]; xor edx,edx; mov r10d,8; syscall
  const setBytes = 5 + 5 + 7 + 2 + 6 + 2;
  const waitAt = 3 * setBytes;
  const exitAt = waitAt + 9;
  const exitStruct = exitAt + 9;
  const ignoreStruct = exitStruct + 32;
  const set = (index: number, signal: number, structAt: number): Buffer => {
    const next = index * setBytes + 5 + 5 + 7;
    return Buffer.concat([
      Buffer.from([0xb8, 13, 0, 0, 0, 0xbf]),
      int32(signal),
      Buffer.from([0x48, 0x8d, 0x35]),
      int32(structAt - next),
      Buffer.from([0x31, 0xd2, 0x41, 0xba, 8, 0, 0, 0, 0x0f, 0x05]),
    ]);
  };
  const exitAddress = base + BigInt(headerBytes + exitAt);
  return Buffer.concat([
    set(0, signals.terminate, exitStruct),
    set(1, signals.interrupt, exitStruct),
    set(2, signals.child, ignoreStruct),
    Buffer.from([0xb8, 34, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7]), // wait: mov eax,pause; syscall; jmp wait
    Buffer.from([0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05]), // exit: mov eax,exit; xor edi,edi; syscall
    // The kernel requires a restorer for handlers on amd64; our handler never returns.
    sigaction(exitAddress, flags.restorer, exitAddress),
    sigaction(ignore, flags.noChildWait, 0n),
  ]);
}

function arm64Code(): Buffer {
  const word = (value: number): Buffer => int32(value | 0);
  const move = (register: number, value: number): Buffer => word(0xd2800000 | (value << 5) | register);
  const systemCall = word(0xd4000001);
  // mov x8,134; mov x0,<signal>; adr x1,<struct>; mov x2,0; mov x3,8; svc
  const setBytes = 6 * 4;
  const waitAt = 3 * setBytes;
  const exitAt = waitAt + 7 * 4;
  const exitStruct = exitAt + 3 * 4 + 4; // aligned
  const ignoreStruct = exitStruct + 32;
  const set = (index: number, signal: number, structAt: number): Buffer => {
    const distance = structAt - (index * setBytes + 8);
    return Buffer.concat([
      move(8, 134),
      move(0, signal),
      word(0x10000000 | ((distance & 3) << 29) | ((distance >> 2) << 5) | 1),
      move(2, 0),
      move(3, 8),
      systemCall,
    ]);
  };
  const exitAddress = base + BigInt(headerBytes + exitAt);
  const noArguments = [0, 1, 2, 3].map((register) => move(register, 0));
  // wait: ppoll(NULL, 0, NULL, NULL); b wait
  const wait = Buffer.concat([...noArguments, move(8, 73), systemCall, word(0x17fffffa)]);
  // exit: exit(0); nop
  const exit = Buffer.concat([move(8, 93), move(0, 0), systemCall, word(0xd503201f)]);
  return Buffer.concat([
    set(0, signals.terminate, exitStruct),
    set(1, signals.interrupt, exitStruct),
    set(2, signals.child, ignoreStruct),
    wait,
    exit,
    sigaction(exitAddress, 0n, 0n),
    sigaction(ignore, flags.noChildWait, 0n),
  ]);
}
