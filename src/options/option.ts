// Option declarations: programs, help text and reference page are all derived from them.

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
  /** Used if neither file nor flag sets the option. */
  readonly default: T;
  /** Used instead if no configuration file is given: some defaults differ on purpose. */
  readonly legacyDefault?: T;
  readonly doc: string;
  /** Shown by help in place of a default that is computed at startup. */
  readonly defaultText?: string;
  /** Returns an error message for a value that its type permits but that is invalid. */
  check?(value: T): string | undefined;
  /** What to use instead; the flag still works, with one warning per use. */
  readonly deprecated?: string;
  /** Why any value other than the default is rejected. */
  readonly unavailable?: string;
  /** Same as `unavailable`, for some values only. */
  unavailableFor?(value: T): string | undefined;
  /** Why the setting has no effect: it is accepted with a warning. */
  readonly idle?: string;
  /** Only the name appears in the help text, so that it is not mistaken for a flag that works. */
  readonly unlisted?: boolean;
  /** The feature gate that any value other than the default requires. */
  readonly gate?: string;
  /** The value names a file that must be readable at startup. */
  readonly readable?: boolean;
  /** Computes the value from other settings if it was not set. */
  derive?(settings: SettingsView): { readonly value: T; readonly from: string } | undefined;
}

export interface Option<N extends string = string, T = unknown> extends OptionParts<T> {
  /** The key in the settled values. */
  readonly name: N;
  readonly flag?: string;
  readonly short?: string;
  /** Alternative names of the flag. */
  readonly aliases?: readonly string[];
  /** Path in the configuration file. */
  readonly config?: string;
  /** In a file, zero and the empty string count as unset, as upstream; a flag's value is used as given. */
  readonly zeroIsUnset?: boolean;
  /** Converts a flag's value, if it differs in meaning from the same value in a file. */
  fromFlag?(value: T): T;
}

/** Access to other settings for computed defaults. */
export interface SettingsView {
  value(name: string): unknown;
  /** Reports whether a file or a flag set the option. */
  isSet(name: string): boolean;
}

/** An option with a value of any type, for lists of options. */
export type AnyOption = Option;

export function option<const F extends string, T>(
  declaration: OptionParts<NoInfer<T>> & { readonly type: OptionType<T>; readonly flag: F } & Omit<
      Option<string, NoInfer<T>>,
      "name" | "flag" | keyof OptionParts<T>
    >,
): Option<Camel<F>, T> {
  return { name: camel(declaration.flag), ...declaration };
}

/** Declares an option that exists in the configuration file only. */
export function fileOption<const C extends string, T>(
  declaration: OptionParts<NoInfer<T>> & {
    readonly type: OptionType<T>;
    readonly config: C;
    readonly zeroIsUnset?: boolean;
  },
): Option<C, T> {
  return { name: declaration.config, ...declaration };
}

export interface Section<O extends AnyOption = AnyOption> {
  readonly title: string;
  readonly options: readonly O[];
}
export const section = <const O extends AnyOption>(title: string, options: readonly O[]): Section<O> => ({
  title,
  options,
});

/** The typed record of values for a list of options. */
export type SettingsOf<O extends AnyOption> = {
  readonly [K in O as K["name"]]: K extends Option<string, infer T> ? T : never;
};
/** The options of a list of sections. */
export type OptionsOf<S extends readonly Section[]> = S[number]["options"][number];

/** Reports that settings conflict, naming them. */
export type ConflictReporter<S> = (names: readonly (keyof S & string)[], message: string) => void;
export interface Check<S> {
  readonly name: string;
  readonly run: (settings: S, blame: ConflictReporter<S>, context: CheckContext) => void;
  /** Required for starting only; a configuration that is checked or written may violate it. */
  readonly startOnly?: boolean;
}
export interface CheckContext {
  readonly dialect: Dialect;
  enabled(gate: string): boolean;
  /** Reports whether a file or a flag set the option. */
  isSet(name: string): boolean;
  /** Reports whether this process can read a file. */
  isReadable(path: string): boolean;
  /** Adds a warning about a setting that is unusual but permitted. */
  warn(message: string): void;
}

export interface OptionSet<O extends AnyOption = AnyOption> {
  readonly program: string;
  /** One sentence at the top of the help text. */
  readonly summary: string;
  readonly dialect: Dialect;
  readonly sections: readonly Section<O>[];
  readonly checks: readonly Check<SettingsOf<O>>[];
  /** Known feature gates, for sets with a `featureGates` option. */
  readonly gates?: readonly Gate[];
  /** Accepted types of the configuration file; the first one is written. */
  readonly file?: readonly { readonly apiVersion: string; readonly kind: string }[];
  /** Every field is a flag in camel case, so that messages only name the flag. */
  readonly fieldsFollowFlags?: boolean;
  /**
   * Starts with a warning if the file has unknown or duplicate fields; checking the configuration still
   * rejects them.
   */
  readonly ignoresStrictErrors?: boolean;
  /**
   * Gates that have an effect, in addition to those that options require. Setting any other gate causes a
   * warning. This is a function, so that copying a set does not evaluate it.
   */
  readonly effectiveGates?: () => readonly string[];
  /** The command line may contain arguments other than flags, such as file names. */
  readonly takesArguments?: boolean;
  /** Removed flags, and what to use instead. */
  readonly retired?: Readonly<Record<string, string>>;
}

export interface Gate {
  readonly name: string;
  readonly stage: "ALPHA" | "BETA" | "GA";
  readonly default: boolean;
  /** The value is fixed to the default. */
  readonly locked?: boolean;
  /** Why it cannot be enabled, by its name or for its stage. */
  readonly refused?: string;
  /** The releases that changed it, in order. */
  readonly later?: readonly GateChange[];
}

/** The stage and the default of a gate from a minor release on. */
export interface GateChange extends Pick<Gate, "stage" | "default"> {
  readonly since: number;
}
