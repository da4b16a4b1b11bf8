/** `millrace config`: the settings in effect, a line each, secrets masked, then what is odd about them. */
import { configFacts, describeConfig, type Environment, loadConfig } from '../config/index.js';
import { type Asked, shown } from './parser.js';

/** @throws BAD_CONFIG, whose message is the line to print */
export function configText(asked: Asked, environment: Environment): string {
  const { config, warnings } = loadConfig(environment);
  return shown(asked, { settings: configFacts(config), warnings }, () => {
    const remarks = warnings.map((warning) => `# warning: ${warning}\n`);
    return describeConfig(config) + remarks.join('');
  });
}
