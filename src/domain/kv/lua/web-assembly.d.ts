/** The part of WebAssembly that is used here; TypeScript's own types require the DOM library. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
    static imports(module: Module): { readonly module: string; readonly name: string }[];
  }
  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Record<string, unknown>;
  }
  interface Imports {
    readonly [module: string]: Readonly<Record<string, unknown>>;
  }
  interface Memory {
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  interface Table {
    get(index: number): unknown;
    set(index: number, value: unknown): void;
    grow(entries: number): number;
  }
  class RuntimeError extends Error {}
}
