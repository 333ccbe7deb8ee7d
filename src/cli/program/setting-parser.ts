/** Parses an option of a command by the rule of the setting that it replaces. */

import { InvalidArgumentError } from 'commander'
import { SETTINGS, type Settings } from '../../config/settings.ts'

/** The parser of the option. It throws if the setting does not allow the text. */
export function settingParser<Key extends 'host' | 'port'>(key: Key): (text: string) => Settings[Key] {
  return (text) => {
    const value = SETTINGS[key].parse(text)
    if (value === undefined) throw new InvalidArgumentError(`It must be ${SETTINGS[key].allowed}.`)
    return value as Settings[Key]
  }
}
