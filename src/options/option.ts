// A setting is said once: everything the programs, the help text and the reference page know of it follows
// from here.

import type { Dialect } from "#dialect";
import type { OptionType } from "./option-type.ts";

/** `tls-cert-file` → `tlsCertFile`. */
export type Camel<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S;
export const camel = <const S extends string>(flag: S): Camel<S> =>
  flag.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) as Camel<S>;

interface OptionParts<T> {
  readonly type: OptionType<T>;
  /** Applies when neither file nor flag says otherwise. */
  readonly default: T;
  /** Applies instead when no configuration file is given: some defaults differ on purpose. */
  readonly legacyDefault?: T;
  readonly doc: string;
  /** What help shows in place of a default that is worked out at start. */
  readonly defaultText?: string;
  /** Says what is wrong with a value that its type allows. */
  check?(value: T): string | undefined;
  /** What to do instead; the flag still works and is announced once per use. */
  readonly deprecated?: string;
  /** Why any other value than the default is refused: the mechanism is not there yet. */
  readonly notYet?: string;
  /** The same for some values only. */
  notYetFor?(value: T): string | undefined;
  /** Why the setting changes nothing here: it is accepted, and whoever sets it is told. */
  readonly idle?: string;
  /**
   * Left out of the help text but for its name: whoever looks there for what a program can do must not take
   * it for a flag that works.
   */
  readonly unlisted?: boolean;
  /** The feature gate that any other value than the default needs. */
  readonly gate?: string;
  /** Names a file that must be readable at start. */
  readonly readable?: boolean;
  /** Worked out from other settings when nothing was given. */
  derive?(look: Look): { readonly value: T; readonly from: string } | undefined;
}

export interface Option<N extends string = string, T = unknown> extends OptionParts<T> {
  /** The key among the settled values. */
  readonly name: N;
  readonly flag?: string;
  readonly short?: string;
  /** Further spellings of the flag. */
  readonly aliases?: readonly string[];
  /** Path in the configuration file. */
  readonly config?: string;
  /** In a file zero and the empty text are as good as nothing, as with the original; a flag means what it says. */
  readonly zeroIsUnset?: boolean;
  /** What a flag's value means when that differs from the same value in a file. */
  fromFlag?(value: T): T;
}

/** How a derived default sees the other settings. */
export interface Look {
  value(name: string): unknown;
  /** Whether a file or a flag gave it. */
  isSet(name: string): boolean;
}

/** Any option, whatever its value: for lists of them. */
export type AnyOption = Option;

export function option<const F extends string, T>(
  said: OptionParts<NoInfer<T>> & { readonly type: OptionType<T>; readonly flag: F } & Omit<
      Option<string, NoInfer<T>>,
      "name" | "flag" | keyof OptionParts<T>
    >,
): Option<Camel<F>, T> {
  return { name: camel(said.flag), ...said };
}

/** A setting that has a place in the configuration file and no flag. */
export function fileOption<const C extends string, T>(
  said: OptionParts<NoInfer<T>> & {
    readonly type: OptionType<T>;
    readonly config: C;
    readonly zeroIsUnset?: boolean;
  },
): Option<C, T> {
  return { name: said.config, ...said };
}

export interface Section<O extends AnyOption = AnyOption> {
  readonly title: string;
  readonly options: readonly O[];
}
export const section = <const O extends AnyOption>(title: string, options: readonly O[]): Section<O> => ({
  title,
  options,
});

/** The typed record that settling a list of options yields. */
export type SettingsOf<O extends AnyOption> = {
  readonly [K in O as K["name"]]: K extends Option<string, infer T> ? T : never;
};
/** The options of a list of sections. */
export type OptionsOf<S extends readonly Section[]> = S[number]["options"][number];

/** Tells that settings do not go together, naming them. */
export type Blame<S> = (names: readonly (keyof S & string)[], message: string) => void;
export interface Check<S> {
  readonly name: string;
  readonly run: (settings: S, blame: Blame<S>, context: CheckContext) => void;
  /** Holds for a start; a configuration that is only looked at or written may break it. */
  readonly startOnly?: boolean;
}
export interface CheckContext {
  readonly dialect: Dialect;
  enabled(gate: string): boolean;
  /** Whether a file or a flag gave the setting. */
  isSet(name: string): boolean;
  /** Whether a file is there for this process to read. */
  isReadable(path: string): boolean;
  /** Tells something that is odd but allowed. */
  warn(message: string): void;
}

export interface OptionSet<O extends AnyOption = AnyOption> {
  readonly program: string;
  /** One sentence for the top of the help text. */
  readonly summary: string;
  readonly dialect: Dialect;
  readonly sections: readonly Section<O>[];
  readonly checks: readonly Check<SettingsOf<O>>[];
  /** Known feature gates, for sets with a `featureGates` setting. */
  readonly gates?: readonly Gate[];
  /** What the configuration file calls itself, in each accepted spelling; the first is written. */
  readonly file?: readonly { readonly apiVersion: string; readonly kind: string }[];
  /** Whether every field is a flag in camel case: messages then name the flag alone. */
  readonly fieldsFollowFlags?: boolean;
  /**
   * Whether a start goes on, with a warning, when the file has fields that nobody knows or that are there
   * twice; a check refuses them all the same.
   */
  readonly forgivesSlips?: boolean;
  /**
   * Gates that switch something, besides those that options need. Setting any other is told to be of no
   * effect. A function, because a copy of the set that changes something else of it must not ask for them.
   */
  readonly actingGates?: () => readonly string[];
  /** Whether the command line may hold more than flags, as the names of files. */
  readonly takesWords?: boolean;
  /** Flags of old command lines that are gone, and what to use instead. */
  readonly retired?: Readonly<Record<string, string>>;
}

export interface Gate {
  readonly name: string;
  readonly stage: "ALPHA" | "BETA" | "GA";
  readonly default: boolean;
  /** May not be set to anything but its default. */
  readonly locked?: boolean;
  /** Why it cannot be switched on, by its name or for its stage. */
  readonly refused?: string;
}
