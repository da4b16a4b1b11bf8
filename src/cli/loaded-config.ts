/** The settings of the environment, with secrets read from the places that they name. */
import { readSecret } from '../adapters/node/index.js';
import { type Environment, type LoadedConfig, loadConfig } from '../config/index.js';

/** @throws BAD_CONFIG with one line that names the variable */
export function loadedConfig(env: Environment): LoadedConfig {
  return loadConfig(env, readSecret);
}
