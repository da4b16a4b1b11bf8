/** `millrace config`: the effective settings, one line each, with masked secrets, then warnings. */
import { configFacts, describeConfig, type Environment } from '../config/index.js';
import { loadedConfig } from './loaded-config.js';
import { type ParsedArguments, shown } from './parser.js';

/** @throws BAD_CONFIG with the line to print as its message */
export function configText(asked: ParsedArguments, environment: Environment): string {
  const { config, warnings } = loadedConfig(environment);
  return shown(asked, { settings: configFacts(config), warnings }, () => {
    const remarks = warnings.map((warning) => `# warning: ${warning}\n`);
    return describeConfig(config) + remarks.join('');
  });
}
