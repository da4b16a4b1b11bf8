/** What the engine has compiled, kept for the next start. Of files that are no pieces of a bundle nothing is. */
export async function keepCompiledCode(): Promise<void> {
  // The one that runs the pieces, and no copy of it.
  const { keepCompiled } = await import('./pieces.js');
  await keepCompiled();
}
