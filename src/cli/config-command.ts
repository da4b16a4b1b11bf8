/** `millrace config`: the settings in effect, a line each, secrets masked, then what is odd about them. */
import { describeConfig, type Environment, loadConfig } from '../config/index.js';

/** @throws BAD_CONFIG, whose message is the line to print */
export function configCommand(environment: Environment, write: (text: string) => void): void {
  const { config, warnings } = loadConfig(environment);
  write(describeConfig(config));
  for (const warning of warnings) write(`# warning: ${warning}\n`);
}
