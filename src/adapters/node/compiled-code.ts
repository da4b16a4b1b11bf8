/** Keeps the engine's compiled code for the next start, when the program is bundled in pieces. */
export async function keepCompiledCode(): Promise<void> {
  // The module that runs the pieces, not a copy of it.
  const { keepCompiled } = await import('./pieces.js');
  await keepCompiled();
}
