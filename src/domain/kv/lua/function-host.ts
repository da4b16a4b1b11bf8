/** The functions of a partition's libraries, loaded into the Lua machine when first needed. */
import { asciiLowerCase, type ByteString } from '../../../kernel/index.js';
import type { CommandContext } from '../command-spec.js';
import type { Libraries } from '../libraries.js';
import { ErrorReply } from '../reply.js';
import { libraryHeader } from './library-loading.js';
import { REGISTRY_INDEX } from './lua-api.js';
import { errorOf, type ScriptHost, scriptHost } from './script-host.js';
import { newScriptRun, type RegisteredFunction, Registration } from './script-run.js';

type Functions = ReadonlyMap<ByteString, RegisteredFunction>;

interface LoadedLibrary {
  readonly source: ByteString;
  readonly functions: Functions;
}

const NO_FUNCTIONS: Functions = new Map();
const hosts = new WeakMap<Libraries, FunctionHost>();

export function functionHost(libraries: Libraries): FunctionHost {
  let host = hosts.get(libraries);
  if (host === undefined) {
    host = new FunctionHost(libraries, scriptHost(libraries));
    hosts.set(libraries, host);
  }
  return host;
}

class FunctionHost {
  readonly #loaded = new Map<ByteString, LoadedLibrary>();
  /** Keyed by lower-case name, because callers may use any case. */
  readonly #functions = new Map<ByteString, RegisteredFunction>();
  /** Libraries that failed to load, with their source. */
  readonly #broken = new Map<ByteString, ByteString>();
  #version = -1;
  #generation = -1;

  constructor(
    private readonly libraries: Libraries,
    private readonly scripts: ScriptHost,
  ) {}

  find(context: CommandContext, name: ByteString): RegisteredFunction | undefined {
    this.#refresh(context);
    return this.#functions.get(asciiLowerCase(name));
  }

  functionsOf(context: CommandContext, library: ByteString): readonly RegisteredFunction[] {
    this.#refresh(context);
    return [...(this.#loaded.get(library)?.functions.values() ?? [])];
  }

  count(context: CommandContext): number {
    this.#refresh(context);
    return this.#functions.size;
  }

  /**
   * Runs a library's body and checks that its function names are free. Only the functions are kept. @throws ErrorReply
   */
  tryOut(context: CommandContext, name: ByteString, body: ByteString): Functions {
    this.#refresh(context);
    const functions = this.#load(context, body);
    if (functions.size === 0) throw new ErrorReply('ERR No functions registered');
    for (const [library, loaded] of this.#loaded) {
      if (library === name) continue;
      const taken = new Set([...loaded.functions.keys()].map(asciiLowerCase));
      for (const known of functions.keys()) {
        if (taken.has(asciiLowerCase(known))) {
          this.#release(functions);
          throw new ErrorReply(`ERR Function ${known} already exists`);
        }
      }
    }
    return functions;
  }

  /** Takes over the functions of a library that was just added to `libraries`. */
  adopt(name: ByteString, source: ByteString, functions: Functions): void {
    this.#forget(name);
    this.#remember(name, { source, functions });
    this.#version = this.libraries.version;
  }

  /** Synchronises the machine with the libraries: reloads libraries after a new machine or a changed source. */
  #refresh(context: CommandContext): void {
    if (this.libraries.size === 0 && this.#loaded.size === 0) return;
    this.scripts.furniture(context);
    // A library that is stopped while loading discards the machine; then all others are loaded again.
    while (this.#generation !== this.scripts.generation || this.#version !== this.libraries.version) {
      if (this.#generation !== this.scripts.generation) {
        this.#loaded.clear();
        this.#functions.clear();
        this.#generation = this.scripts.generation;
      }
      this.#loadMissing(context);
      this.scripts.furniture(context);
    }
  }

  #loadMissing(context: CommandContext): void {
    for (const [name, { source }] of [...this.#loaded]) {
      if (this.libraries.get(name) !== source) this.#forget(name);
    }
    for (const [name, source] of this.libraries.entries()) {
      if (!this.#loaded.has(name)) this.#remember(name, { source, functions: this.#loadAgain(context, name, source) });
    }
    this.#version = this.libraries.version;
  }

  /** A library that loaded before and now fails has no functions; the others are not affected. */
  #loadAgain(context: CommandContext, name: ByteString, source: ByteString): Functions {
    if (this.#broken.get(name) === source) return NO_FUNCTIONS;
    try {
      return this.#load(context, libraryHeader(source).body);
    } catch (problem) {
      if (!(problem instanceof ErrorReply)) throw problem;
      this.#broken.set(name, source);
      return NO_FUNCTIONS;
    }
  }

  #load(context: CommandContext, body: ByteString): Functions {
    const { scripts } = this;
    const chunk = scripts.compileChunk(context, body, '@user_function', 'Error compiling function');
    const furniture = scripts.furniture(context);
    const { machine } = furniture;
    const { api, state } = machine;
    const registration = new Registration();
    const loadBody = () => {
      api.lua_settop(state, 0);
      scripts.clearKeys(furniture);
      api.lua_rawgeti(state, REGISTRY_INDEX, furniture.errorHandler);
      api.lua_rawgeti(state, REGISTRY_INDEX, chunk);
      api.luaL_unref(state, REGISTRY_INDEX, chunk);
      furniture.setLoading(true);
      const { random } = scripts;
      const terms = { context, random, isReadOnly: true, lockedKeys: undefined, mayGrow: false, registration };
      machine.run = newScriptRun(terms);
      machine.slices.startMeter(context.server, scripts.limits(context));
      const failed = api.lua_pcall(state, 0, 0, 1);
      furniture.setLoading(false);
      machine.run = undefined;
      if (failed === 0) return registration.functions;
      this.#release(registration.functions);
      const { text } = errorOf(machine, '');
      throw new ErrorReply(
        `ERR Error registering functions: ${text.replace(/ script: , on @user_function:[0-9]+\.$/, '')}`,
      );
    };
    return scripts.guarded(context, '', loadBody, undefined, 'FUNCTION LOAD timeout');
  }

  #remember(name: ByteString, library: LoadedLibrary): void {
    this.#loaded.set(name, library);
    for (const [known, registered] of library.functions) {
      const folded = asciiLowerCase(known);
      if (!this.#functions.has(folded)) this.#functions.set(folded, registered);
    }
  }

  #forget(name: ByteString): void {
    const loaded = this.#loaded.get(name);
    if (loaded === undefined) return;
    this.#loaded.delete(name);
    for (const known of loaded.functions.keys()) this.#functions.delete(asciiLowerCase(known));
    this.#release(loaded.functions);
  }

  #release(functions: Functions): void {
    const { machine } = this.scripts.current ?? {};
    for (const { callback } of functions.values()) machine?.api.luaL_unref(machine.state, REGISTRY_INDEX, callback);
  }
}
